/* SPDX-License-Identifier: MIT */
/* Frames: any cut asks for more, every broken rule is refused before the body is taken. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static char data[256];

static size_t make(uint8_t type, uint16_t flags, uint64_t id, const char *body, uint32_t claimed)
{
    hr_frame_header(data, type, flags, claimed, id);
    memcpy(data + HR_FRAME_HEADER_SIZE, body, strlen(body));
    return HR_FRAME_HEADER_SIZE + strlen(body);
}

START_TEST(decodes_what_was_encoded)
{
    struct hr_frame frame;
    const char *fault;
    size_t size = make(HR_FRAME_REPLY, 0x1203, UINT64_C(0x8877665544332211), "body", 4);

    ck_assert_int_eq(hr_frame_decode(data, size, &frame, &fault), (long)size);
    ck_assert_uint_eq(frame.type, HR_FRAME_REPLY);
    ck_assert_uint_eq(frame.flags, 0x1203);
    ck_assert_uint_eq(frame.id, UINT64_C(0x8877665544332211));
    ck_assert_uint_eq(frame.body_size, 4);
    ck_assert_mem_eq(frame.body, "body", 4);
}
END_TEST

START_TEST(asks_for_more_at_every_cut)
{
    struct hr_frame frame;
    const char *fault;
    size_t size = make(HR_FRAME_DISPLAY, 1, 7, "abcdef", 6);

    for (size_t cut = 0; cut < size; cut++)
        ck_assert_int_eq(hr_frame_decode(data, cut, &frame, &fault), 0);
}
END_TEST

START_TEST(refuses_broken_rules_early)
{
    struct hr_frame frame;
    const char *fault = NULL;

    make(HR_FRAME_REPLY, 0, 1, "", HR_FRAME_REPLY_MAX + 1);
    ck_assert_int_eq(hr_frame_decode(data, HR_FRAME_HEADER_SIZE, &frame, &fault), -1);
    ck_assert_ptr_nonnull(strstr(fault, "limit"));
    make(HR_FRAME_EXECUTE, 0, 1, "", 0); /* of the other direction */
    ck_assert_int_eq(hr_frame_decode(data, 2, &frame, &fault), -1);
    ck_assert_int_eq(hr_frame_decode("{\"status\":\"ok\"}", 1, &frame, &fault), -1);
}
END_TEST

START_TEST(fields_round_trip_and_stop_at_a_lie)
{
    struct hr_buf body;
    struct hr_fields fields;
    const char *field;
    size_t size;

    hr_buf_init(&body, 0);
    ck_assert(hr_buf_add_u32(&body, 3) && hr_fields_add(&body, "one", 3) &&
              hr_fields_add(&body, "", 0));
    ck_assert(hr_buf_add_u32(&body, 1000)); /* a size beyond the end */
    ck_assert(hr_fields_open(&fields, body.data, body.size));
    ck_assert(hr_fields_next(&fields, &field, &size));
    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(field, "one", 3);
    ck_assert(hr_fields_next(&fields, &field, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert(!hr_fields_next(&fields, &field, &size));
    ck_assert(!hr_fields_open(&fields, "abc", 3));
    hr_buf_done(&body);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *test_case = tcase_create("wire");
    SRunner *runner;
    int failed;

    tcase_add_test(test_case, decodes_what_was_encoded);
    tcase_add_test(test_case, asks_for_more_at_every_cut);
    tcase_add_test(test_case, refuses_broken_rules_early);
    tcase_add_test(test_case, fields_round_trip_and_stop_at_a_lie);
    suite_add_tcase(suite, test_case);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

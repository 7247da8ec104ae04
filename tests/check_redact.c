/* SPDX-License-Identifier: MIT */
/*
 * Secrets in text: what is masked and how, what is left alone, and that cuts make no difference.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "engine-testlib.h"
#include "redact-rules.h"
#include "redact.h"
#include "testlib.h"

/* ---- helpers ---------------------------------------------------------------------------- */

/* In pieces of at most `piece` bytes (0: whole). hr_buf_done() the result. */
static struct hr_buf redact_in(const char *text, size_t size, size_t piece, uint64_t *ret_count)
{
    struct hr_redactor redactor;
    struct hr_buf out;

    hr_redactor_init(&redactor);
    hr_buf_init(&out, 0);
    ck_assert(hr_buf_add(&out, "", 0));
    for (size_t n; size > 0; text += n, size -= n) {
        n = piece && piece < size ? piece : size;
        ck_assert(hr_redactor_feed(&redactor, text, n, &out));
        ck_assert_uint_le(redactor.held.size, HR_REDACT_WINDOW + 4096);
    }
    ck_assert(hr_redactor_finish(&redactor, &out));
    if (ret_count)
        *ret_count = redactor.count;
    hr_redactor_done(&redactor);
    return out;
}

static void becomes_times(const char *text, const char *expected, uint64_t times)
{
    static const size_t pieces[] = {0, 1, 2, 3, 7, 50};
    size_t size = strlen(text);
    uint64_t count;

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct hr_buf out = redact_in(text, size, pieces[i], &count);

        ck_assert_msg(strcmp(out.data, expected) == 0,
                      "\"%s\" became\n\"%s\" in place of\n\"%s\", pieces of %zu", text, out.data,
                      expected, pieces[i]);
        ck_assert_msg(count == times, "\"%s\": %d secrets", text, (int)count);
        hr_buf_done(&out);
    }
    { /* and so it stays */
        struct hr_buf out = redact_in(expected, strlen(expected), 0, &count);

        ck_assert_msg(strcmp(out.data, expected) == 0 && count == 0, "\"%s\" became \"%s\"",
                      expected, out.data);
        hr_buf_done(&out);
    }
}

static void becomes(const char *text, const char *expected)
{
    becomes_times(text, expected, 1);
}

static void stays(const char *text)
{
    becomes_times(text, text, 0);
}

/* ---- keys ------------------------------------------------------------------------------- */

START_TEST(reported_examples)
{
    stays("MAX_TOKENS=100\n");
    stays("d['apiKey']\n");
    stays("\"apiKey\": \"test\"\n");
    becomes("sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "sk-aaa...aaaa\n");
    becomes("ghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", "ghp_AA...AAAA\n");
}
END_TEST

/* A token of a family: the prefix and the fewest bytes that make one. */
static void make_token(const struct hr_redact_row *row, char *token)
{
    static const char samples[] = "7BQ2Xabcdef9_-./=";
    const struct hr_redact_tables *tables = hr_redact_tables();
    size_t n = strlen(row->prefix), i = 0;

    memcpy(token, row->prefix, n);
    for (unsigned left = row->minimum; left > 0; i++) {
        unsigned char byte = (unsigned char)samples[i % (sizeof samples - 1)];

        if ((tables->classes[byte] & row->class) && byte != '.' && byte != '/') {
            token[n++] = (char)byte;
            left--;
        }
    }
    if (row->rule == HR_RULE_KEY_DOT)
        token[n - 15] = '.';
    token[n] = '\0';
}

START_TEST(every_family)
{
    char token[300], text[1000], expected[400];
    int families = 0;

    for (size_t i = 0; i < hr_redact_row_count; i++) {
        const struct hr_redact_row *row = &hr_redact_rows[i];

        if (row->rule != HR_RULE_KEY && row->rule != HR_RULE_KEY_DOT)
            continue;
        families++;
        make_token(row, token);
        if (strlen(token) >= 18)
            snprintf(expected, sizeof expected, "key: '%.6s...%s', next", token,
                     token + strlen(token) - 4);
        else
            snprintf(expected, sizeof expected, "key: '***', next");
        snprintf(text, sizeof text, "key: '%s', next", token);
        becomes(text, expected);
        snprintf(text, sizeof text, "%s\n%s", token, token); /* at both ends */
        snprintf(expected, sizeof expected, "%.6s...%s\n%.6s...%s", token,
                 token + strlen(token) - 4, token, token + strlen(token) - 4);
        if (strlen(token) >= 18)
            becomes_times(text, expected, 2);
        token[strlen(row->prefix) + 2] = '\0'; /* too short */
        snprintf(text, sizeof text, "key: '%s'", token);
        stays(text);
    }
    ck_assert_int_ge(families, 60);
}
END_TEST

START_TEST(where_keys_stand)
{
    becomes("x=\\nsk-abcdefghij0123456789'", "x=\\nsk-abc...6789'"); /* in the repr of a text */
    becomes("\"ghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"", "\"ghp_AA...AAAA\"");
    becomes("tokenghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "tokenghp_AA...AAAA");
    becomes("Use ghs_abcdefghijklmnopqrstuvwxyz0123456789. Then", "Use ghs_ab...6789. Then");
    becomes("bot 123456789:AAabcdefghijklmnopqrstuvwxyz0123456 ok",
            "bot 123456789:AAabcd...3456 ok");
    becomes("https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
            "https://hooks....XXXX");
    stays("risk-assessmentsoftwarefordepartments");
    stays("task-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    stays("sk-toggleable__label-arrow sk-estimator-doc-link");
    stays("AKIA1234"); /* too short, and too long: */
    stays("AKIAIOSFODNN7EXAMPLEEXAMPLE");
    stays("mask-ghp_ hf_hub_download npm_config_cache key-value SG.x SK");
    becomes("AKIAIOSFODNN7EXAMPLE", "AKIAIO...MPLE");
}
END_TEST

START_TEST(web_tokens)
{
    becomes("t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r. e",
            "t eyJhbG...1p1r. e");
    becomes("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.", "eyJhbG...In0.");
    stays("eyJhbGciOiJIUzI1NiJ9"); /* base64 of some JSON */
    stays("eyJ.eyJ.eyJ");
}
END_TEST

/* ---- headers ---------------------------------------------------------------------------- */

START_TEST(headers)
{
    becomes("Authorization: Bearer abc123\n", "Authorization: Bearer ***\n");
    becomes("authorization: bearer abcdefghijklmnopqrstuv12\n",
            "authorization: bearer abcdef...uv12\n");
    becomes("> Proxy-Authorization: Basic dTpw\r\n", "> Proxy-Authorization: Basic ***\r\n");
    becomes("{'Authorization': 'Bearer abcdefghijklmnopqrstuv12', 'A': 1}",
            "{'Authorization': 'Bearer abcdef...uv12', 'A': 1}");
    becomes("{\"Authorization\":\"token 0123456789abcdef0123\"}",
            "{\"Authorization\":\"token 012345...0123\"}");
    becomes("curl -H \"Authorization: Digest username=\"u\", response='x'\" y",
            "curl -H \"Authorization: Digest ***");
    becomes("Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=abc\nnext",
            "Authorization: AWS4-HMAC-SHA256 ***\nnext");
    becomes("Authorization: abc123def456", "Authorization: ***");
    becomes("X-Api-Key: 0123456789abcdef0123", "X-Api-Key: 012345...0123");
    becomes("PRIVATE-TOKEN: abcdef123", "PRIVATE-TOKEN: ***");
    becomes("sent Bearer abcdefghijklmnopqrstuv12 to", "sent Bearer abcdef...uv12 to");
    becomes("Basic dXNlcjpwYXNzd29yZA==", "Basic dXNlcj...ZA==");
    stays("Authorization: required\nBearer token authentication and Basic authentication\n");
    stays("Basic internationalization, basic JavaScriptProgrammingLanguage");
    stays("headers = {\"Authorization\": f\"Bearer {token}\"}");
    stays("headers[\"Authorization\"] = \"Bearer \" + token");
    stays("-H \"Authorization: Bearer $TOKEN\" -H 'X-Api-Key: <your key>'");
    stays("api-key: x");
}
END_TEST

/* ---- private keys ----------------------------------------------------------------------- */

#define LINE "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"

START_TEST(private_keys)
{
    becomes("a\n-----BEGIN RSA PRIVATE KEY-----\n" LINE LINE
            "abcd==\n-----END RSA PRIVATE KEY-----\nb\n",
            "a\n[REDACTED PRIVATE KEY]\nb\n");
    becomes("-----BEGIN OPENSSH PRIVATE KEY-----\r\n" LINE LINE "-----END OPENSSH PRIVATE KEY-----",
            "[REDACTED PRIVATE KEY]");
    becomes("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" LINE
            "=aaaa\n-----END PGP PRIVATE KEY BLOCK-----\n",
            "[REDACTED PRIVATE KEY]\n");
    becomes("{\"private_key\": \"-----BEGIN PRIVATE "
            "KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n-----END PRIVATE "
            "KEY-----\\n\", \"a\": 1}",
            "{\"private_key\": \"[REDACTED PRIVATE KEY]\\n\", \"a\": 1}");
    becomes(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" LINE
        "-----END RSA PRIVATE KEY-----",
        "[REDACTED PRIVATE KEY]");
    becomes("$ head -3 key\n-----BEGIN PRIVATE KEY-----\n" LINE LINE "$ ls",
            "$ head -3 key\n[REDACTED PRIVATE KEY]$ ls");
    stays("-----BEGIN CERTIFICATE-----\n" LINE "-----END CERTIFICATE-----\n");
    stays("if '-----BEGIN PRIVATE KEY-----' in text and '-----END PRIVATE KEY-----' in text:\n    "
          "pass\n");
    stays("-----BEGIN PRIVATE KEY-----\n");
}
END_TEST

/* ---- addresses -------------------------------------------------------------------------- */

START_TEST(connection_strings)
{
    becomes("postgres://app:hunter2@db:5432/x", "postgres://app:***@db:5432/x");
    becomes("mongodb+srv://u:a-very-long-password-indeed@c.example/?w=1",
            "mongodb+srv://u:***@c.example/?w=1");
    becomes("redis://:p4ss@localhost:6379/0", "redis://:***@localhost:6379/0");
    becomes("amqp://u:p@ss:w@rd@h/v", "amqp://u:***@h/v");
    becomes("https://user:%40bc@example.com/a", "https://user:***@example.com/a");
    becomes("Server=a;User Id=sa;Password=s3cr3t;Encrypt=yes",
            "Server=a;User Id=sa;Password=***;Encrypt=yes");
    becomes("'AccountName=a;AccountKey=0123456789+/abcdefghij==;E=1'",
            "'AccountName=a;AccountKey=***;E=1'");
    stays("http://localhost:8080/a@b https://unpkg.com:443/react@18");
    stays("postgres://user:${DB_PASSWORD}@host postgres://u:{password}@h postgres://u:%s@h "
          "postgres://u:***@h");
    stays("postgres://user@host/db http://[::1]:80/ file:///a:b@c");
}
END_TEST

START_TEST(parameters)
{
    becomes("GET https://a.example/x?access_token=abcdefgh&b=1",
            "GET https://a.example/x?access_token=***&b=1");
    becomes("https://a.example/x?a=1&token=abc123&b=1", "https://a.example/x?a=1&token=***&b=1");
    becomes("<a href=\"https://a.example/x?a=1&amp;sig=abcdef\">",
            "<a href=\"https://a.example/x?a=1&amp;sig=***\">");
    becomes("https://b.s3.example/o?X-Amz-Signature=0123456789abcdef0123456789abcdef#f",
            "https://b.s3.example/o?X-Amz-Signature=012345...cdef#f");
    becomes("\"GET /cb?client_secret=abcdefgh12 HTTP/1.1\"",
            "\"GET /cb?client_secret=*** HTTP/1.1\"");
    becomes("https://a.example/#access_token=abcdefgh", "https://a.example/#access_token=***");
    stays("https://a.example/x?page=2&tokens=3&key=name#token");
    stays("x = a?token=1:2; y&token=5 #api_key=abcdefghij");
    stays("f(a&access_token==b)");
}
END_TEST

/* ---- blocks ----------------------------------------------------------------------------- */

START_TEST(environment_blocks)
{
    becomes_times(
        "$ "
        "env\nHOME=/"
        "root\nDB_PASSWORD=hunter2hunter2hunter2\nAPI_KEY='0123456789abcdef0123'\nMAX_TOKENS=100\n"
        "# more\n\nexport GITHUB_TOKEN=abc\nPATH=/bin\n$ ",
        "$ env\nHOME=/root\nDB_PASSWORD=***\nAPI_KEY='012345...0123'\nMAX_TOKENS=100\n"
        "# more\n\nexport GITHUB_TOKEN=***\nPATH=/bin\n$ ",
        3);
    becomes_times("A_SECRET=aaa\r\nB_TOKEN=bbb\r\nC_PASSWORD=ccc\r\nD_KEY=ddd",
                  "A_SECRET=***\r\nB_TOKEN=***\r\nC_PASSWORD=***\r\nD_KEY=***", 4);
    becomes_times(
        "declare -x A_SECRET=\"aaa\"\ndeclare -x B_TOKEN=\"bbb\"\ndeclare -x PGPASSWORD=\"ccc\"\n",
        "declare -x A_SECRET=\"***\"\ndeclare -x B_TOKEN=\"***\"\ndeclare -x PGPASSWORD=\"***\"\n",
        3);
    stays("A_SECRET=aaa\nB_TOKEN=bbb\n");
    stays("A_SECRET=aaa\nsome text\nB_TOKEN=bbb\nC_PASSWORD=ccc\n");
    stays("MAX_TOKENS=100\nTOKENIZERS_PARALLELISM=false\nKEYBOARD=us\nAUTHOR=me\nMONKEY=1\nSSH_"
          "AUTH_SOCK=/tmp/s\n");
    stays("API_KEY=\nUSE_AUTH=true\nKEY=1\nTOKEN=$TOKEN\nSECRET=<yours>\nPIN_KEY=12\n");
    stays("KEY==1\nTOKEN==2\nSECRET==3\nPASSWORD==4\n");
}
END_TEST

/* ---- cuts, sizes, time ------------------------------------------------------------------ */

static const char *const fragments[] = {"sk-",
                                        "sk-proj-",
                                        "ghp_",
                                        "AAAAAAAAAAAAAAAAAAAAAA",
                                        "abcdef0123456789",
                                        "eyJ",
                                        ".",
                                        "-",
                                        "_",
                                        "\n",
                                        " ",
                                        "://",
                                        "u:p@",
                                        "?token=",
                                        "&access_token=",
                                        "Authorization: ",
                                        "Bearer ",
                                        "Basic ",
                                        "'",
                                        "\"",
                                        "=",
                                        "-----BEGIN PRIVATE KEY-----",
                                        "-----END PRIVATE KEY-----",
                                        "-----",
                                        "A_SECRET=",
                                        "B_TOKEN=x\n",
                                        "C_PASSWORD=y\n",
                                        "NAME=v\n",
                                        "#\n",
                                        "\r\n",
                                        "é",
                                        "\\n",
                                        ";Password=",
                                        "export ",
                                        "xoxb-",
                                        "AKIAIOSFODNN7EXAMPLE",
                                        "word",
                                        "$",
                                        "12345:AA"};

static unsigned long random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(random_state >> 33) % n;
}

static void random_text(struct hr_buf *text, size_t size)
{
    hr_buf_clear(text);
    while (text->size < size) {
        const char *fragment = fragments[random_below(sizeof fragments / sizeof *fragments)];
        unsigned times = random_below(20) == 0 ? random_below(60) : 1;

        while (times-- > 0)
            hr_buf_add_text(text, fragment);
    }
}

START_TEST(cuts_make_no_difference)
{
    struct hr_buf text;

    hr_buf_init(&text, 0);
    for (int round = 0; round < 400; round++) {
        size_t pieces[] = {1, 1 + random_below(9), 1 + random_below(5000)};
        struct hr_buf whole;
        uint64_t count, other;

        random_text(&text, round % 40 ? 1 + random_below(600) : 40000);
        whole = redact_in(text.data, text.size, 0, &count);
        for (size_t i = 0; i < 3; i++) {
            struct hr_buf cut = redact_in(text.data, text.size, pieces[i], &other);

            ck_assert_msg(cut.size == whole.size && memcmp(cut.data, whole.data, cut.size) == 0 &&
                              count == other,
                          "round %d, pieces of %zu:\n%s", round, pieces[i], text.data);
            hr_buf_done(&cut);
        }
        hr_buf_done(&whole);
    }
    hr_buf_done(&text);
}
END_TEST

/* A secret longer than the window is masked to its end, and the text behind it comes. */
START_TEST(longer_than_the_window)
{
    static const char *const starts[] = {"ghp_", "Authorization: Bearer ",
                                         "https://a/?token=", "-----BEGIN PRIVATE KEY-----\n",
                                         "A_KEY=aaa\nB_KEY=bbb\nC_KEY="};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        for (size_t piece = 0; piece < 10000; piece += 4999) {
            struct hr_buf text, out;

            hr_buf_init(&text, 0);
            hr_buf_add_text(&text, starts[i]);
            for (int n = 0; n < 100000; n++)
                hr_buf_add(&text, "S", 1);
            hr_buf_add_text(&text, " the end");
            out = redact_in(text.data, text.size, piece, NULL);
            ck_assert_msg(out.size < 200 && !strstr(out.data, "SSSSSSS"), "%zu: %.300s", i,
                          out.data);
            ck_assert_msg(i == 4 || strstr(out.data, " the end"), "%zu: %.300s", i, out.data);
            hr_buf_done(&text);
            hr_buf_done(&out);
        }
    }
}
END_TEST

START_TEST(flush_shows_what_is_there)
{
    struct hr_redactor redactor;
    struct hr_buf out;

    hr_redactor_init(&redactor);
    hr_buf_init(&out, 0);
    ck_assert(hr_redactor_flush(&redactor, &out));
    ck_assert(hr_redactor_feed(&redactor, "Name", 4, &out)); /* a line NAME=... perhaps */
    ck_assert(hr_redactor_flush(&redactor, &out));
    ck_assert_str_eq(out.data, "Name");
    ck_assert(hr_redactor_flush(&redactor, &out));
    ck_assert(hr_redactor_feed(&redactor, "? token gh", 10, &out));
    ck_assert(hr_redactor_flush(&redactor, &out));
    ck_assert_str_eq(out.data, "Name? token gh");
    ck_assert(hr_redactor_feed(&redactor, "p_AAAA", 6, &out));
    ck_assert(hr_redactor_flush(&redactor, &out));
    ck_assert(hr_redactor_feed(&redactor, "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBCCCC", 36, &out));
    ck_assert(hr_redactor_flush(&redactor, &out)); /* now it is seen to be one */
    ck_assert_str_eq(out.data, "Name? token ghp_AAAA***");
    ck_assert(hr_redactor_feed(&redactor, "DDDD", 4, &out)); /* and goes on */
    ck_assert(hr_redactor_flush(&redactor, &out));
    ck_assert(hr_redactor_feed(&redactor, "EE, done\n", 9, &out));
    ck_assert(hr_redactor_finish(&redactor, &out));
    ck_assert_str_eq(out.data, "Name? token ghp_AAAA***, done\n");
    ck_assert_uint_eq(redactor.count, 1);
    hr_redactor_done(&redactor);
    hr_buf_done(&out);
}
END_TEST

/*
 * A flush at every byte shows the same but for secrets, and never the inside of one that was whole
 * before.
 */
START_TEST(flushes_lose_nothing)
{
    static const char text[] =
        "plain é text, https://a.example/b?c=d : NAME=x\n-----BEGIN nothing\nEnd";
    struct hr_redactor redactor;
    struct hr_buf out;

    hr_redactor_init(&redactor);
    hr_buf_init(&out, 0);
    for (size_t i = 0; text[i]; i++) {
        ck_assert(hr_redactor_feed(&redactor, text + i, 1, &out));
        ck_assert(hr_redactor_flush(&redactor, &out));
        ck_assert_uint_eq(out.size, i + 1);
    }
    ck_assert(hr_redactor_finish(&redactor, &out));
    ck_assert_str_eq(out.data, text);
    hr_redactor_done(&redactor);
    hr_buf_done(&out);
}
END_TEST

/*
 * Texts that make a careless scanner look at everything again and again: a megabyte of each in well
 * under a second.
 */
START_TEST(linear_time)
{
    static const char *const units[] = {"sk-",
                                        "-eyJ",
                                        "://",
                                        "://a:",
                                        "-----BEGIN PRIVATE KEY-----",
                                        "-----BEGIN PRIVATE KEY-----END ",
                                        "KEY=1\n",
                                        "A_KEY=abcdef\n#",
                                        "A_KEY=abc\nB=1\n",
                                        "Bearer ",
                                        "Bearer a",
                                        "&token=",
                                        "?a",
                                        "Authorization:",
                                        "ghp_",
                                        "a",
                                        "#\n",
                                        "export ",
                                        ";Password=",
                                        "xox",
                                        "eyJaaaaaaaaaaaa."};
    struct hr_buf text, out;

    hr_buf_init(&text, 0);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        for (size_t piece = 64; piece <= 16384; piece *= 256) {
            clock_t before = clock();

            hr_buf_clear(&text);
            while (text.size < 1 << 20)
                hr_buf_add_text(&text, units[i]);
            out = redact_in(text.data, text.size, piece, NULL);
            hr_buf_done(&out);
            ck_assert_msg(clock() - before <
                              (clock_t)test_scaled_ms(1500) * (CLOCKS_PER_SEC / 1000),
                          "1 MiB of \"%s\" took %.1f s", units[i],
                          (double)(clock() - before) / CLOCKS_PER_SEC);
        }
    }
    hr_buf_done(&text);
}
END_TEST

/* ---- in cells --------------------------------------------------------------------------- */

#define KEY "ghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define MASKED "ghp_AA...AAAA"

/*
 * reports A54 and A55: output is masked, behind escape sequences too; what runs and what it writes
 * is not
 */
START_TEST(cells_are_redacted)
{
    struct hermes_result *result;
    char code[1000], *written;

    snprintf(code, sizeof code,
             "key = '" KEY "'\nprint('\\x1b[0m' + key, len(key))\n"
             "import sys; print(key, file=sys.stderr)\nopen('%s', "
             "'w').write(key)\nprint('MAX_TOKENS=100')",
             test_path("written"));
    result = te_run("a", code);
    EXPECT_OUTPUT(result, MASKED " 40\nMAX_TOKENS=100\n--- stderr ---\n" MASKED "\n");
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->redactions == 2);
    hermes_result_free(result);
    written = test_read_file(test_path("written"));
    ck_assert_str_eq(written, KEY);
    free(written);
    result = te_run("a", "raise ValueError(key)");
    EXPECT(result,
           te_has(result, MASKED) && te_error_has(result, MASKED) && result->redactions == 1);
    EXPECT(result, !te_has(result, KEY) && !te_error_has(result, KEY));
    hermes_result_free(result);
    te_says("a", "print(1)", "1\n");
}
END_TEST

START_TEST(the_spill_file_is_redacted)
{
    struct hermes_result *result;
    char *spilled;

    te_set(engine, "stdout_limit", "1000");
    te_set(engine, "spill_directory", test_path("spill"));
    result = te_run("a", "for i in range(300): print(i, 'ghp_' + 'A' * 36)");
    EXPECT(result, result->truncated && result->spill_path && result->redactions == 300);
    EXPECT(result, te_has(result, "0 " MASKED "\n") && te_has(result, "299 " MASKED "\n") &&
                       !te_has(result, "AAAAA"));
    spilled = test_read_file(result->spill_path);
    ck_assert_ptr_nonnull(spilled);
    ck_assert_ptr_nonnull(strstr(spilled, "150 " MASKED "\n"));
    ck_assert_ptr_null(strstr(spilled, "AAAAA"));
    free(spilled);
    hermes_result_free(result);
}
END_TEST

START_TEST(redaction_can_be_off)
{
    struct hermes_result *result =
        te_run_flags("a", "print('" KEY "'); 1/0 # " KEY, HERMES_CELL_NO_REDACT);

    EXPECT(result, te_has(result, KEY) && te_error_has(result, KEY) && result->redactions == 0);
    hermes_result_free(result);
    te_set(engine, "redact", "off");
    te_says("a", "print('" KEY "')", KEY "\n");
    te_set(engine, "redact", "on");
    te_says("a", "print('" KEY "')", MASKED "\n");
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("redact");
    TCase *tests = tcase_create("redact"), *cells = tcase_create("cells");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, reported_examples);
    tcase_add_test(tests, every_family);
    tcase_add_test(tests, where_keys_stand);
    tcase_add_test(tests, web_tokens);
    tcase_add_test(tests, headers);
    tcase_add_test(tests, private_keys);
    tcase_add_test(tests, connection_strings);
    tcase_add_test(tests, parameters);
    tcase_add_test(tests, environment_blocks);
    tcase_add_test(tests, cuts_make_no_difference);
    tcase_add_test(tests, longer_than_the_window);
    tcase_add_test(tests, flush_shows_what_is_there);
    tcase_add_test(tests, flushes_lose_nothing);
    tcase_add_test(tests, linear_time);
    suite_add_tcase(suite, tests);
    tcase_set_timeout(cells, 60);
    tcase_add_checked_fixture(cells, te_set_up, te_tear_down);
    tcase_add_test(cells, cells_are_redacted);
    tcase_add_test(cells, the_spill_file_is_redacted);
    tcase_add_test(cells, redaction_can_be_off);
    suite_add_tcase(suite, cells);
    return suite;
}

int main(void)
{
    return test_run(suite());
}

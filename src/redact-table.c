/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <pthread.h>
#include <string.h>

#include "redact-rules.h"

#define ALNUM HR_CLASS_ALNUM
#define HEX HR_CLASS_HEX
#define UPPER HR_CLASS_UPPER
#define WORD HR_CLASS_WORD
#define DOTTED HR_CLASS_DOTTED
#define BASE64 HR_CLASS_BASE64
#define LOOSE HR_ROW_LOOSE

#define KEY(prefix_, class_, minimum_)                                                             \
    {                                                                                              \
        prefix_, HR_RULE_KEY, 0, class_, minimum_, 0                                               \
    }
#define SIZED(prefix_, class_, size_)                                                              \
    {                                                                                              \
        prefix_, HR_RULE_KEY, 0, class_, size_, size_                                              \
    }
/* What cannot be anything else, also right behind a letter. */
#define SURE(prefix_, class_, minimum_)                                                            \
    {                                                                                              \
        prefix_, HR_RULE_KEY, LOOSE, class_, minimum_, 0                                           \
    }
#define OTHER(prefix_, rule_, flags_)                                                              \
    {                                                                                              \
        prefix_, rule_, flags_, 0, 0, 0                                                            \
    }

/*
 * A prefix of two bytes must be followed by one of its class. Among those that begin alike the
 * first that fits decides.
 */
/* clang-format off */
const struct hr_redact_row hr_redact_rows[] = {
    /* models and their tools */
    SURE("sk-ant-", WORD, 16), SURE("sk-proj-", WORD, 16), SURE("sk-svcacct-", WORD, 16), /* Anthropic, OpenAI */
    SURE("sk-admin-", WORD, 16), SURE("sk-or-v1-", WORD, 16), SURE("sk-lf-", WORD, 20), /* OpenRouter, Langfuse */
    KEY("sk-", ALNUM, 16), KEY("sk-", WORD, 40),
    SURE("gsk_", ALNUM, 20), SURE("xai-", ALNUM, 40), SURE("pplx-", ALNUM, 30), /* Groq, xAI, Perplexity */
    KEY("hf_", ALNUM, 20), SURE("api_org_", ALNUM, 20), SURE("r8_", ALNUM, 30), /* Hugging Face, Replicate */
    SURE("nvapi-", WORD, 40), SURE("tvly-", WORD, 20), SIZED("fc-", HEX, 32), /* NVIDIA, Tavily, Firecrawl */
    SURE("lsv2_pt_", WORD, 30), SURE("lsv2_sk_", WORD, 30), SURE("pcsk_", WORD, 30), /* LangSmith, Pinecone */
    SURE("e2b_", HEX, 32),
    /* GitHub, GitLab and Bitbucket */
    SURE("ghp_", ALNUM, 20), SURE("gho_", ALNUM, 20), SURE("ghu_", ALNUM, 20), SURE("ghr_", ALNUM, 20),
    SURE("ghs_", DOTTED, 20), SURE("github_pat_", WORD, 22),
    SURE("glpat-", DOTTED, 20), SURE("gldt-", WORD, 20), SURE("glrt-", DOTTED, 20), SURE("glrtr-", WORD, 20),
    SURE("glptt-", WORD, 20), SURE("glcbt-", WORD, 20), SURE("glft-", WORD, 20), SURE("glsoat-", WORD, 20),
    SURE("glagent-", WORD, 20), SURE("glimt-", WORD, 20), SURE("glffct-", WORD, 20), SURE("gloas-", WORD, 20),
    SURE("ATBB", ALNUM, 28), SURE("ATATT3x", BASE64, 60), SURE("ATCTT3x", BASE64, 60),
    /* clouds */
    {"AKIA", HR_RULE_KEY, 0, UPPER, 16, 16}, {"ASIA", HR_RULE_KEY, 0, UPPER, 16, 16}, /* Amazon */
    {"ABIA", HR_RULE_KEY, 0, UPPER, 16, 16}, {"ACCA", HR_RULE_KEY, 0, UPPER, 16, 16},
    KEY("AIza", WORD, 30), KEY("ya29.", DOTTED, 20), SURE("GOCSPX-", WORD, 20), KEY("1//0", WORD, 30), /* Google */
    SURE("dop_v1_", HEX, 32), SURE("doo_v1_", HEX, 32), SURE("dor_v1_", HEX, 32), /* DigitalOcean */
    KEY("LTAI", ALNUM, 16), SIZED("AKID", ALNUM, 32), /* Alibaba, Tencent */
    SIZED("dapi", HEX, 32), SURE("pul-", HEX, 40), SURE(".atlasv1.", WORD, 60), /* Databricks, Pulumi, Terraform */
    SURE("hvs.", WORD, 20), SURE("hvb.", WORD, 20), SURE("hvr.", WORD, 20), /* Vault */
    KEY("dp.pt.", WORD, 30), KEY("dp.st.", DOTTED, 30), KEY("dp.ct.", WORD, 30), KEY("dp.sa.", WORD, 30), /* Doppler */
    SURE("dt0c01.", DOTTED, 60), SURE("fo1_", WORD, 40), SURE("fm2_", BASE64, 60), SURE("tskey-", WORD, 20),
    SURE("sbp_", HEX, 40), SURE("sb_secret_", WORD, 20), /* Supabase */
    SURE("ops_eyJ", BASE64, 100), SURE("AGE-SECRET-KEY-1", UPPER, 50), SURE("SWMTKN-1-", WORD, 40),
    /* packages */
    SURE("npm_", ALNUM, 30), SURE("pypi-", WORD, 40), SURE("rubygems_", HEX, 40), SIZED("oy2", ALNUM, 43),
    SURE("dckr_pat_", WORD, 20), SURE("dckr_oat_", WORD, 20), SURE("AKCp", ALNUM, 60),
    /* messages and mail */
    SURE("xoxa-", WORD, 10), SURE("xoxb-", WORD, 10), SURE("xoxc-", WORD, 10), SURE("xoxd-", WORD, 10),
    SURE("xoxe-", WORD, 10), SURE("xoxe.xox", WORD, 20), SURE("xoxo-", WORD, 10), SURE("xoxp-", WORD, 10),
    SURE("xoxr-", WORD, 10), SURE("xoxs-", WORD, 10), SURE("xapp-", WORD, 20), SURE("xwfp-", WORD, 20), /* Slack */
    {"hooks.slack.com/services/", HR_RULE_KEY, LOOSE, BASE64, 20, 0},
    {"discord.com/api/webhooks/", HR_RULE_KEY, LOOSE, BASE64, 40, 0},
    {"discordapp.com/api/webhooks/", HR_RULE_KEY, LOOSE, BASE64, 40, 0},
    OTHER(":AA", HR_RULE_TELEGRAM, LOOSE),
    {"SG.", HR_RULE_KEY_DOT, 0, DOTTED, 40, 0}, SIZED("key-", HEX, 32), SURE("xkeysib-", WORD, 60), /* mail */
    {"SK", HR_RULE_KEY, 0, HEX, 32, 32}, /* Twilio */
    /* money and shops */
    SURE("sk_live_", ALNUM, 10), SURE("sk_test_", ALNUM, 10), SURE("rk_live_", ALNUM, 10),
    SURE("rk_test_", ALNUM, 10), SURE("whsec_", BASE64, 20), /* Stripe */
    SURE("shpat_", ALNUM, 20), SURE("shpca_", ALNUM, 20), SURE("shppa_", ALNUM, 20), SURE("shpss_", ALNUM, 20),
    SURE("sq0atp-", WORD, 20), SURE("sq0csp-", WORD, 40), SURE("EAACEdEose0cBA", ALNUM, 20),
    SURE("EZAK", ALNUM, 54), SURE("EZTK", ALNUM, 54), SURE("shippo_live_", HEX, 40), SURE("duffel_live_", WORD, 40),
    /* work */
    SURE("lin_api_", ALNUM, 30), SURE("lin_oauth_", ALNUM, 30), SIZED("secret_", ALNUM, 43), SURE("ntn_", ALNUM, 40),
    SURE("figd_", WORD, 30), SURE("PMAK-", WORD, 50), SURE("CFPAT-", WORD, 40), SURE("pat-na1-", WORD, 30),
    SURE("pat-eu1-", WORD, 30), SURE("sl.u.", WORD, 60), KEY("sl.B", WORD, 60), SURE("CCIPAT_", WORD, 40),
    SURE("bkua_", HEX, 40), SURE("sgp_", WORD, 40), SURE("phx_", ALNUM, 40), /* Buildkite, Sourcegraph, PostHog */
    /* watching */
    SURE("sntrys_", BASE64, 40), SURE("sntryu_", HEX, 40), SURE("glsa_", WORD, 30), SURE("glc_", BASE64, 40),
    SURE("NRAK-", ALNUM, 20),

    OTHER("-----BEGIN ", HR_RULE_PEM, LOOSE),
    OTHER("eyJ", HR_RULE_JWT, 0),
    OTHER("authorization", HR_RULE_AUTHORIZATION, HR_ROW_FOLD),
    OTHER("api-key", HR_RULE_HEADER, HR_ROW_FOLD), OTHER("auth-token", HR_RULE_HEADER, HR_ROW_FOLD),
    OTHER("access-token", HR_RULE_HEADER, HR_ROW_FOLD), OTHER("private-token", HR_RULE_HEADER, HR_ROW_FOLD),
    OTHER("vault-token", HR_RULE_HEADER, HR_ROW_FOLD), OTHER("job-token", HR_RULE_HEADER, HR_ROW_FOLD),
    OTHER("bearer ", HR_RULE_SCHEME, HR_ROW_FOLD), OTHER("basic ", HR_RULE_SCHEME, HR_ROW_FOLD),
    OTHER("://", HR_RULE_URL, LOOSE),
    OTHER("?", HR_RULE_PARAMETER, LOOSE), OTHER("&", HR_RULE_PARAMETER, LOOSE), OTHER("#", HR_RULE_PARAMETER, LOOSE),
    OTHER(";password=", HR_RULE_FIELD, HR_ROW_FOLD | LOOSE), OTHER(";pwd=", HR_RULE_FIELD, HR_ROW_FOLD | LOOSE),
    OTHER(";accountkey=", HR_RULE_FIELD, HR_ROW_FOLD | LOOSE), OTHER(";accesskey=", HR_RULE_FIELD, HR_ROW_FOLD | LOOSE),
    OTHER(";sharedaccesskey=", HR_RULE_FIELD, HR_ROW_FOLD | LOOSE),
};
/* clang-format on */

#define ROW_COUNT (sizeof hr_redact_rows / sizeof *hr_redact_rows)
/* Some stand twice in order[], for both cases of their first letter. */
_Static_assert(ROW_COUNT + 20 <= HR_REDACT_ROWS_MAX, "HR_REDACT_ROWS_MAX is too small");
const size_t hr_redact_row_count = ROW_COUNT;

static struct hr_redact_tables tables;

static void add_class(unsigned class, const char *bytes)
{
    for (; *bytes; bytes++)
        tables.classes[(unsigned char)*bytes] |= (uint16_t) class;
}

static void remove_class(unsigned class, const char *bytes)
{
    for (; *bytes; bytes++)
        tables.classes[(unsigned char)*bytes] &= (uint16_t) ~class;
}

static void make_classes(void)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                      lower[] = "abcdefghijklmnopqrstuvwxyz", digits[] = "0123456789";
    const unsigned wide = HR_CLASS_ALNUM | HR_CLASS_WORD | HR_CLASS_DOTTED | HR_CLASS_BASE64 |
                          HR_CLASS_NAME | HR_CLASS_KEY_LINES;
    const unsigned url = HR_CLASS_URL | HR_CLASS_USER | HR_CLASS_PASSWORD | HR_CLASS_VALUE;

    add_class(wide | HR_CLASS_UPPER, upper);
    add_class(wide, lower);
    add_class(wide | HR_CLASS_UPPER | HR_CLASS_HEX, digits);
    add_class(HR_CLASS_HEX, "abcdefABCDEF");
    add_class(HR_CLASS_WORD | HR_CLASS_DOTTED | HR_CLASS_BASE64, "_-");
    add_class(HR_CLASS_NAME, "_");
    add_class(HR_CLASS_DOTTED | HR_CLASS_BASE64, ".");
    add_class(HR_CLASS_BASE64, "~+/=");
    add_class(HR_CLASS_KEY_LINES, "+/=\\\r\n");
    add_class(HR_CLASS_BLANK, " \t");
    for (unsigned byte = 0; byte < 256; byte++) {
        tables.classes[byte] |= (uint16_t)(byte > ' ' && byte != 0x7f ? url : 0);
        tables.classes[byte] |= HR_CLASS_FIELD | HR_CLASS_LINE;
    }
    remove_class(url, "\"'<>`\\");
    remove_class(HR_CLASS_USER, ":/@?#");
    remove_class(HR_CLASS_PASSWORD, "/?");
    remove_class(HR_CLASS_VALUE, "&#;,)]}");
    remove_class(HR_CLASS_FIELD, ";\"'\r\n");
    remove_class(HR_CLASS_LINE, "\n");
}

static void allow(uint16_t table[256], unsigned char byte, bool fold, unsigned bit)
{
    table[byte] |= (uint16_t)bit;
    if (fold)
        table[hr_redact_upper(byte)] |= (uint16_t)bit;
}

static void allow_class(uint16_t table[256], unsigned class, unsigned bit)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (!class || (tables.classes[byte] & class))
            table[byte] |= (uint16_t)bit;
}

static void add(uint64_t *set, const unsigned char *three)
{
    uint32_t hash = hr_redact_hash(three);

    set[hash / 64] |= UINT64_C(1) << hash % 64;
}

void hr_redact_add_three(const struct hr_redact_tables *known, uint64_t *set,
                         const struct hr_redact_row *row, size_t at)
{
    const unsigned char *text = (const unsigned char *)row->prefix + at;
    size_t size = strlen(row->prefix);
    bool fold = row->flags & HR_ROW_FOLD;

    for (unsigned cases = 0; size > 2 && cases < (fold ? 8 : 1); cases++) {
        unsigned char three[3];

        for (unsigned i = 0; i < 3; i++)
            three[i] = cases >> i & 1 ? hr_redact_upper(text[i]) : text[i];
        add(set, three);
    }
    for (unsigned byte = 0; size == 2 && byte < 256; byte++)
        if (known->classes[byte] & row->class)
            add(set, (unsigned char[3]){text[0], text[1], (unsigned char)byte});
}

static void make_triggers(const struct hr_redact_row *row)
{
    const unsigned char *prefix = (const unsigned char *)row->prefix;
    bool fold = row->flags & HR_ROW_FOLD;
    unsigned bit = prefix[1] ? 1u << prefix[0] % HR_TRIGGER_GROUPS : HR_TRIGGER_SIGN;

    allow(tables.first, prefix[0], fold, bit);
    if (!prefix[1]) {
        allow_class(tables.second, HR_CLASS_NAME, bit);
        allow_class(tables.third, HR_CLASS_WORD, bit);
        return;
    }
    allow(tables.second, prefix[1], fold, bit);
    if (prefix[2])
        allow(tables.third, prefix[2], fold, bit);
    else
        allow_class(tables.third, row->class, bit);
    hr_redact_add_three(&tables, tables.threes, row, 0);
}

static void make_tables(void)
{
    unsigned count = 0;

    make_classes();
    for (size_t i = 0; i < ROW_COUNT; i++) {
        tables.length[i] = (uint8_t)strlen(hr_redact_rows[i].prefix);
        make_triggers(&hr_redact_rows[i]);
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        tables.start[byte] = (uint8_t)count;
        for (size_t i = 0; i < ROW_COUNT && byte < 128; i++) {
            unsigned char first = (unsigned char)hr_redact_rows[i].prefix[0];

            if (byte == first ||
                ((hr_redact_rows[i].flags & HR_ROW_FOLD) && byte == hr_redact_upper(first)))
                tables.order[count++] = (uint8_t)i;
        }
    }
    tables.start[256] = (uint8_t)count;
    tables.first['\n'] |= HR_TRIGGER_LINE;
    allow_class(tables.second, 0, HR_TRIGGER_LINE);
    allow_class(tables.third, 0, HR_TRIGGER_LINE);
    allow_class(tables.first, HR_CLASS_NAME, HR_TRIGGER_ASSIGN);
    allow(tables.second, '=', false, HR_TRIGGER_ASSIGN);
    allow_class(tables.third, 0, HR_TRIGGER_ASSIGN);
    hr_redact_make_windows(&tables);
}

const struct hr_redact_tables *hr_redact_tables(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_tables);
    return &tables;
}

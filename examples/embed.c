#include <hermes-kernel.h>
#include <stdio.h>

int main(void)
{
    const char *cells[] = {"r = 2", "print('area', 3.14159 * r ** 2)", "radius", "print('still here:', r)"};
    struct hermes_engine *engine;
    struct hermes_result *result;

    if (hermes_engine_new(&engine, NULL) < 0)
        return 1;
    for (int i = 0; i < 4; i++) {
        struct hermes_cell cell = HERMES_CELL_INIT;
        cell.session = "demo"; /* cells of one session share their state */
        cell.code = cells[i];
        if (hermes_execute(engine, &cell, &result, NULL) < 0)
            return 1;
        printf("[exit code %d]\n%s", result->exit_code, result->output);
        hermes_result_free(result);
    }
    hermes_engine_free(engine); /* no process stays behind */
}

/* Uses the committed kernels as a C program does: nothing but generated/ and a C compiler.
 * The expected values are computed here by plain loops from the frameworks' own definitions. */
#include "symlayout_kernels.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("failed: %s\n", what);
        ++failures;
    }
}

static void count_up(int32_t *to, int32_t count)
{
    for (int32_t i = 0; i < count; ++i)
        to[i] = i + 1;
}

/* The fourth example in the documentation of tf.nn.space_to_batch. */
static void test_tensorflow_example(void)
{
    const int32_t wanted[24] = {0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16};
    const int32_t zero = 0;
    int32_t from[16], to[24];
    count_up(from, 16);
    check(tensorflow_space_to_batch_nd_4_x4(from, to, &zero) == SL_OK, "example 4: status");
    check(memcmp(to, wanted, sizeof to) == 0, "example 4: values");
}

static void test_openvino_examples(void)
{
    enum { SIZE = 2 * 6 * 10 * 3 * 3, SMALL = 48 * 3 * 3 * 1 * 3 };
    static int32_t image[SIZE], blocks[SMALL], back[SIZE];
    const int32_t fill = -7;
    count_up(image, SIZE);
    check(openvino_space_to_batch_5d_x4(image, blocks, &fill) == SL_OK, "5-D space to batch: status");
    check(openvino_batch_to_space_5d_x4(blocks, back) == SL_OK, "5-D batch to space: status");
    check(memcmp(image, back, sizeof image) == 0, "5-D: what is cropped after is what was padded before");
    int fills = 0;
    for (int i = 0; i < SMALL; ++i)
        fills += blocks[i] == fill;
    check(fills == SMALL - SIZE, "5-D: every pad has the fill value");

    int32_t from[20], to[16];
    count_up(from, 20);
    check(openvino_batch_to_space_2d_x4(from, to) == SL_OK, "2-D batch to space: status");
    for (int n = 0; n < 2; ++n)
        for (int w = 0; w < 8; ++w)
            check(to[8 * n + w] == from[((w + 2) % 5 * 2 + n) * 2 + (w + 2) / 5], "2-D batch to space: values");
}

/* out[(i*b1 + j)*N + n, y, x, c] = in[n, y*b0 + i - top, x*b1 + j - left, c], or the fill. */
static void test_dynamic_space_to_batch(void)
{
    enum { N = 2, H = 5, W = 4, C = 3, B0 = 3, B1 = 2, TOP = 2, BOTTOM = 2, LEFT = 1, RIGHT = 3 };
    enum { Y = (H + TOP + BOTTOM) / B0, X = (W + LEFT + RIGHT) / B1 };
    static uint8_t from[N * H * W * C], to[B0 * B1 * N * Y * X * C], back[N * H * W * C];
    const uint8_t fill = 255;
    for (int i = 0; i < N * H * W * C; ++i)
        from[i] = (uint8_t)i;
    check(space_to_batch_2d_x1(N, H, W, C, B0, B1, TOP, BOTTOM, LEFT, RIGHT, from, to, &fill) == SL_OK,
          "space to batch: status");
    const uint8_t *at = to;
    for (int i = 0; i < B0; ++i)
        for (int j = 0; j < B1; ++j)
            for (int n = 0; n < N; ++n)
                for (int y = 0; y < Y; ++y)
                    for (int x = 0; x < X; ++x)
                        for (int c = 0; c < C; ++c, ++at) {
                            const int h = y * B0 + i - TOP, w = x * B1 + j - LEFT;
                            const int inside = h >= 0 && h < H && w >= 0 && w < W;
                            check(*at == (inside ? from[((n * H + h) * W + w) * C + c] : fill),
                                  "space to batch: values");
                        }
    check(batch_to_space_2d_x1(B0 * B1 * N, Y, X, C, B0, B1, TOP, BOTTOM, LEFT, RIGHT, to, back) == SL_OK,
          "batch to space: status");
    check(memcmp(from, back, sizeof from) == 0, "batch to space: the round trip");
}

/* DCR: in[n, (i*b + j)*D + d, y, x];  CRD: in[n, (d*b + i)*b + j, y, x];  out[n, d, y*b + i, x*b + j]. */
static void test_depth_to_space(void)
{
    enum { N = 2, D = 3, B = 2, H = 3, W = 5, SIZE = N * D * B * B * H * W };
    static int32_t from[SIZE], dcr[SIZE], crd[SIZE];
    count_up(from, SIZE);
    check(depth_to_space_dcr_x4(N, D * B * B, H, W, B, from, dcr) == SL_OK, "DCR: status");
    check(depth_to_space_crd_x4(N, D * B * B, H, W, B, from, crd) == SL_OK, "CRD: status");
    for (int n = 0; n < N; ++n)
        for (int d = 0; d < D; ++d)
            for (int y = 0; y < H * B; ++y)
                for (int x = 0; x < W * B; ++x) {
                    const int i = y % B, j = x % B, to = ((n * D + d) * H * B + y) * W * B + x;
                    const int first = (i * B + j) * D + d, last = (d * B + i) * B + j;
                    check(dcr[to] == from[((n * D * B * B + first) * H + y / B) * W + x / B], "DCR: values");
                    check(crd[to] == from[((n * D * B * B + last) * H + y / B) * W + x / B], "CRD: values");
                }
}

static void test_transpose_and_flip(void)
{
    enum { M = 37, N = 21 };
    static int32_t from[M * N], to[M * N];
    count_up(from, M * N);
    check(transpose_2d_x4(M, N, from, to) == SL_OK, "transpose: status");
    for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n)
            check(to[n * M + m] == from[m * N + n], "transpose: values");
    check(flip_width_x4(1, M, N, 1, from, to) == SL_OK, "flip: status");
    for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n)
            check(to[m * N + n] == from[m * N + N - 1 - n], "flip: values");
}

/* What breaks a rule is named by the status, and nothing is written. */
static void test_statuses(void)
{
    uint8_t from[16] = {0}, to[16], untouched[16];
    const uint8_t fill = 1;
    memset(to, 9, sizeof to);
    memset(untouched, 9, sizeof untouched);
    check(space_to_batch_2d_x1(1, 3, 4, 1, 2, 2, 0, 0, 0, 0, from, to, &fill) == SL_NON_DIVISIBLE, "3 rows by 2");
    check(batch_to_space_2d_x1(4, 1, 1, 1, 2, 2, 2, 1, 0, 0, from, to) == SL_CROP_EXCEEDS, "3 rows of 2 cropped");
    check(transpose_2d_x1(-1, 4, from, to) == SL_INFEASIBLE, "an extent of -1");
    check(space_to_depth_blocks_first_x1(1, 1, 4, 4, 0, from, to) != SL_OK, "a block of 0");
    check(memcmp(to, untouched, sizeof to) == 0, "a refused call writes nothing");
    check(transpose_2d_x1(0, 4, from, to) == SL_OK, "an empty array");
    check(memcmp(to, untouched, sizeof to) == 0, "an empty array writes nothing");
}

int main(void)
{
    test_tensorflow_example();
    test_openvino_examples();
    test_dynamic_space_to_batch();
    test_depth_to_space();
    test_transpose_and_flip();
    test_statuses();
    if (failures == 0)
        puts("all kernels agree");
    return failures != 0;
}

/* C functions around the plans of HPTT, which has C++ ones only. */
#include <memory>

#include "hptt.h"

namespace {

template <typename T> struct Held { std::shared_ptr<hptt::Transpose<T>> plan; };

/* The plan for out = transpose(source, perm), row-major; null where HPTT throws. */
template <typename T>
void *plan(const int *perm, int rank, const int *shape, const T *source, T *out, int threads)
{
    try {
        return new Held<T>{hptt::create_plan(perm, rank, T(1), source, shape, nullptr, T(0), out, nullptr,
                                             hptt::MEASURE, threads, nullptr, true)};
    } catch (...) {
        return nullptr;
    }
}

} // namespace

extern "C" {

void *plan_float32(const int *perm, int rank, const int *shape, const float *source, float *out, int threads)
{
    return plan(perm, rank, shape, source, out, threads);
}

void *plan_float64(const int *perm, int rank, const int *shape, const double *source, double *out, int threads)
{
    return plan(perm, rank, shape, source, out, threads);
}

void run_float32(void *held)
{
    static_cast<Held<float> *>(held)->plan->execute();
}

void run_float64(void *held)
{
    static_cast<Held<double> *>(held)->plan->execute();
}

}

// SPDX-License-Identifier: MIT
//
// embed.cpp: the same idea in C++11: handles that release themselves, failures as exceptions, a call and a plan.
#include <cstdio>
#include <memory>
#include <quernstone/quernstone.h>
#include <stdexcept>
#include <string>
#include <vector>

// A handle and the function that gives it back.
template <typename T, typename R, R (*release)(T)> struct giver {
    using pointer = T;
    void operator()(T handle) const { release(handle); }
};
template <typename T, typename R, R (*release)(T)> using owned = std::unique_ptr<T, giver<T, R, release>>;
using cl_owner = owned<cl_context, cl_int, clReleaseContext>;
using queue_owner = owned<cl_command_queue, cl_int, clReleaseCommandQueue>;
using mem_owner = owned<cl_mem, cl_int, clReleaseMemObject>;
using event_owner = owned<cl_event, cl_int, clReleaseEvent>;
using qst_owner = owned<qst_context *, void, qst_context_destroy>;
using plan_owner = owned<qst_plan *, void, qst_plan_destroy>;

static void need(qst_status status, const qst_error &err)
{
    if (status < 0)
        throw std::runtime_error(std::string(qst_status_name(status)) + ": " + err.source + ": " + err.text);
}

static mem_owner buffer(cl_context cl, std::vector<float> &data)
{
    return mem_owner(clCreateBuffer(cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, data.size() * sizeof(float),
                                    data.data(), nullptr));
}

static void multiply(int64_t n)
{
    qst_error      err = {};
    qst_context   *made = nullptr;
    qst_plan      *planned = nullptr;
    cl_platform_id platform;
    cl_device_id   device;
    cl_event       event = nullptr;
    need(qst_context_create(&made, nullptr, &err), err);
    qst_owner qst(made); // given back last: what was made on it goes first
    need(qst_context_pick_device(qst.get(), &platform, &device, &err), err);
    cl_owner           cl(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
    queue_owner        queue(clCreateCommandQueue(cl.get(), device, 0, nullptr));
    std::vector<float> ones(n * n, 1.0f), twos(n * n, 2.0f), result(n * n);
    mem_owner          a = buffer(cl.get(), ones), b = buffer(cl.get(), twos), c = buffer(cl.get(), result);

    qst_matmul problem;
    qst_matmul_init(&problem, n, n, n, QST_F32);
    need(qst_matmul_enqueue(qst.get(), queue.get(), &problem, a.get(), b.get(), c.get(), 0, nullptr, &event, &err),
         err);
    event_owner first(event);

    problem.beta = 1.0; // C += A B, once the first product is there
    need(qst_matmul_plan(&planned, qst.get(), queue.get(), &problem, &err), err);
    plan_owner    plan(planned);
    const qst_mem operands[] = {qst_mem_of(a.get()), qst_mem_of(b.get()), qst_mem_of(c.get())};
    need(qst_plan_enqueue(plan.get(), queue.get(), operands, 1, &event, nullptr, &err), err);
    clEnqueueReadBuffer(queue.get(), c.get(), CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0, nullptr,
                        nullptr);
    for (float x : result)
        if (x != 4.0f * static_cast<float>(n))
            throw std::runtime_error("wrong product");
    std::printf("right, by %s\n", qst_plan_winner(plan.get()));
}

int main()
try {
    multiply(100);
} catch (const std::exception &failure) {
    std::fprintf(stderr, "embed: %s\n", failure.what());
    return 1;
}

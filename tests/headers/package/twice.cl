/* c[i] = 2 a[i]; one work-item an element. */
__kernel void twice(__global const float *a, __global float *c)
{
    c[get_global_id(0)] = 2.0f * a[get_global_id(0)];
}

/* SPDX-License-Identifier: MIT
 *
 * element.c: f32, f64, f16 and bf16 in memory. Narrow types are rounded by hand since C11 has none of them. */
#include "element.h"

#include <math.h>
#include <quernstone/types.h>
#include <string.h>

/* Formats by type: bits of the fraction, least exponent of a normal number, largest exponent. */
typedef struct format {
    int fraction, least, most;
} format;

static const format formats[QST_TYPE_END] = {
    [QST_F32] = {23, -126, 127},
    [QST_F64] = {52, -1022, 1023},
    [QST_F16] = {10, -14, 15},
    [QST_BF16] = {7, -126, 127},
};

/* Distance of neighbours of the type around `value`. */
static double ulp(const format *f, double value)
{
    int exponent = f->least;
    if (value != 0 && isfinite(value)) {
        exponent = ilogb(value);
        if (exponent < f->least)
            exponent = f->least;
    }
    return ldexp(1.0, exponent - f->fraction);
}

double element_half_ulp(uint32_t type, double value)
{
    return ulp(&formats[type], value) / 2;
}

double element_round(uint32_t type, double value)
{
    const format *f = &formats[type];
    if (type == QST_F64 || value == 0 || !isfinite(value))
        return value;
    double unit = ulp(f, value), rounded = nearbyint(value / unit) * unit;
    if (fabs(rounded) >= ldexp(1.0, f->most + 1))
        return copysign(INFINITY, value);
    return rounded;
}

/* The bits of a value that the 16-bit format holds exactly. */
static uint16_t narrow(const format *f, double value)
{
    int      bias = 1 - f->least, exponent;
    uint16_t sign = signbit(value) ? 0x8000u : 0;
    uint16_t top = (uint16_t)((f->most + bias + 1) << f->fraction);
    value = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | top | 1u << (f->fraction - 1));
    if (isinf(value))
        return (uint16_t)(sign | top);
    if (value < ldexp(1.0, f->least))
        return (uint16_t)(sign | (uint16_t)ldexp(value, f->fraction - f->least));
    exponent = ilogb(value);
    int fraction = (int)(ldexp(value, f->fraction - exponent) - ldexp(1.0, f->fraction));
    return (uint16_t)(sign | ((exponent + bias) << f->fraction | fraction));
}

static double widen(const format *f, uint16_t bits)
{
    int    fraction = bits & ((1 << f->fraction) - 1), exponent = (bits & 0x7FFF) >> f->fraction;
    int    bias = 1 - f->least;
    double value;
    if (exponent > f->most + bias)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, f->least - f->fraction);
    else
        value = ldexp(fraction + (1 << f->fraction), exponent - bias - f->fraction);
    return bits & 0x8000 ? -value : value;
}

double element_load(uint32_t type, const void *array, int64_t i)
{
    if (type == QST_F32)
        return ((const float *)array)[i];
    if (type == QST_F64)
        return ((const double *)array)[i];
    return widen(&formats[type], ((const uint16_t *)array)[i]);
}

void element_store(uint32_t type, void *array, int64_t i, double value)
{
    if (type == QST_F32)
        ((float *)array)[i] = (float)value;
    else if (type == QST_F64)
        ((double *)array)[i] = value;
    else
        ((uint16_t *)array)[i] = narrow(&formats[type], element_round(type, value));
}

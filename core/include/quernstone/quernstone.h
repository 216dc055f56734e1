/* SPDX-License-Identifier: MIT
 *
 * quernstone.h: all of the application's side. Those who write candidates include plugin.h and kit.h instead.
 */
#ifndef QUERNSTONE_QUERNSTONE_H
#define QUERNSTONE_QUERNSTONE_H

#include <quernstone/cache.h>
#include <quernstone/context.h>
#include <quernstone/matmul.h>
#include <quernstone/op.h>
#include <quernstone/types.h>
#include <quernstone/version.h>

#endif

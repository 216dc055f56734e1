/* base.h: what all layers may use. One include, because each part is small and needed together. */
#ifndef QST_BASE_BASE_H
#define QST_BASE_BASE_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"

#include <quernstone/types.h>
#include <stdbool.h>
#include <stdint.h>

#endif

/* SPDX-License-Identifier: MIT
 *
 * version.h: the release's number. The build reads the three numbers from here; nothing else states them.
 */
#ifndef QUERNSTONE_VERSION_H
#define QUERNSTONE_VERSION_H

#define QST_VERSION_MAJOR 0
#define QST_VERSION_MINOR 1
#define QST_VERSION_PATCH 0

#endif

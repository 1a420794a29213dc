/* SPDX-License-Identifier: MIT */
/* limits.h - how many modules and devices there can be: several folders have arrays of them */
#ifndef QUOITD_LIMITS_H
#define QUOITD_LIMITS_H

#define CONFIG_MODULES   8
#define CONFIG_DEVICES   8
#define CONFIG_OWN_USERS 4 /* users with device processes of their own, at a time */
#define CONFIG_EXECUTORS (CONFIG_MODULES + CONFIG_DEVICES * (1 + CONFIG_OWN_USERS))

#endif

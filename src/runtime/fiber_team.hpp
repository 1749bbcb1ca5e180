// Where fiber/team.hpp was.
#pragma once

#include "runtime/fiber/team.hpp"

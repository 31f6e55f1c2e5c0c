#pragma once

/// Replaces Open MPI's header of this name.

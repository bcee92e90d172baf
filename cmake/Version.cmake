# The one source of the version: programs, agent, charts (scripts/lint compares) and image.
set(JPROF_VERSION 0.1.0)

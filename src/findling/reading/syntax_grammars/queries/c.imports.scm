(preproc_include path: (string_literal (_) @module) @all)
(preproc_include path: (system_lib_string) @module @all)

(use_declaration argument: [(identifier) (scoped_identifier)] @qualified)
(use_list [(identifier) (scoped_identifier)] @qualified)
(use_as_clause path: (_) @qualified alias: (_) @local)
(use_wildcard (_) @module @all)

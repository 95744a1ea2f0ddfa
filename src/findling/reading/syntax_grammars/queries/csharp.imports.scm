(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(using_directive !name [(identifier) (qualified_name)] @module @all)
(using_directive name: (identifier) @local [(identifier) (qualified_name)] @qualified .)

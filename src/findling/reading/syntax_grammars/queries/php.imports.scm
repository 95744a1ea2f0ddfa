(namespace_definition name: (namespace_name) @package)
(namespace_use_clause . [(name) (qualified_name)] @qualified alias: (name)? @local)

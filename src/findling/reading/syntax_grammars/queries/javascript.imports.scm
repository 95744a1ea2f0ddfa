(import_statement (import_clause (identifier) @local) @default source: (string (string_fragment) @module))
(import_statement (import_clause (namespace_import (identifier) @local)) source: (string (string_fragment) @module))
(import_statement (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @local))) source: (string (string_fragment) @module))
(export_statement (export_clause (export_specifier name: (_) @name alias: (_)? @local)) source: (string (string_fragment) @module)) @export
(export_statement (export_clause (export_specifier name: (_) @name alias: (_)? @local)) !source) @export
(export_statement (namespace_export (_) @local) source: (string (string_fragment) @module)) @export
(export_statement "*" @all source: (string (string_fragment) @module)) @export
(export_statement "default" @default value: (identifier) @name) @export
(export_statement "default" @default declaration: (_ name: (_) @name)) @export
(variable_declarator name: (identifier) @local value: (call_expression function: (identifier) @_f arguments: (arguments . (string (string_fragment) @module))) (#eq? @_f "require"))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name) value: (call_expression function: (identifier) @_f arguments: (arguments . (string (string_fragment) @module))) (#eq? @_f "require"))
(variable_declarator name: (object_pattern (pair_pattern key: (_) @name value: (identifier) @local)) value: (call_expression function: (identifier) @_f arguments: (arguments . (string (string_fragment) @module))) (#eq? @_f "require"))
(variable_declarator name: (identifier) @local value: (member_expression object: (call_expression function: (identifier) @_f arguments: (arguments . (string (string_fragment) @module))) property: (_) @name) (#eq? @_f "require"))
(assignment_expression left: (member_expression) @_l right: (identifier) @name (#eq? @_l "module.exports")) @export @whole
(assignment_expression left: (member_expression) @_l right: (call_expression function: (identifier) @_f arguments: (arguments . (string (string_fragment) @module))) (#eq? @_l "module.exports") (#eq? @_f "require")) @export @whole
(assignment_expression left: (member_expression) @_l right: (object (shorthand_property_identifier) @name) (#eq? @_l "module.exports")) @export
(assignment_expression left: (member_expression) @_l right: (object (pair key: (_) @local value: (identifier) @name)) (#eq? @_l "module.exports")) @export
(assignment_expression left: (member_expression object: (_) @_l property: (_) @local) right: (identifier) @name (#match? @_l "^(module\\.)?exports$")) @export
(assignment_expression left: (member_expression object: (_) @_l property: (_) @local) right: (call_expression function: (identifier) @_f arguments: (arguments . (string (string_fragment) @module))) (#match? @_l "^(module\\.)?exports$") (#eq? @_f "require")) @export
(variable_declarator name: (identifier) @name value: (assignment_expression left: (_) @_l) (#match? @_l "^(module\\.)?exports$")) @export @whole

[(call_expression) (new_expression)] @call
(arguments (spread_element)) @unpacked
(member_expression) @member
(decorator [(identifier) (member_expression)] @decorator)
(decorator (call_expression function: [(identifier) (member_expression)] @decorator))
(arguments [(identifier) @name (spread_element (identifier) @name)])
(array [(identifier) @name (spread_element (identifier) @name)])
(object [(shorthand_property_identifier) @name (spread_element (identifier) @name)])
(pair value: (identifier) @name)
(return_statement (identifier) @name)
(variable_declarator value: (identifier) @name)
(assignment_expression right: (identifier) @name)
(assignment_pattern right: (identifier) @name)
(binary_expression (identifier) @name)
(unary_expression (identifier) @name)
(ternary_expression (identifier) @name)
(parenthesized_expression (identifier) @name)
(subscript_expression (identifier) @name)
(template_substitution (identifier) @name)
(await_expression (identifier) @name)
(arrow_function body: (identifier) @name)
(for_in_statement right: (identifier) @name)
(export_statement value: (identifier) @name)
(throw_statement (identifier) @name)
(variable_declarator) @target
(assignment_expression left: [(identifier) (member_expression)]) @target
(arrow_function parameter: (identifier) @bound)
(catch_clause parameter: (identifier) @bound)
(for_in_statement left: (identifier) @bound)
(assignment_pattern left: (identifier) @bound)
(object_pattern (shorthand_property_identifier_pattern) @bound)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @bound)
(pair_pattern value: (identifier) @bound)
(array_pattern (identifier) @bound)
(rest_pattern (identifier) @bound)
(import_statement) @import
(export_statement) @import
(variable_declarator value: (call_expression function: (identifier) @_f) (#eq? @_f "require")) @import
(variable_declarator value: (member_expression object: (call_expression function: (identifier) @_f)) (#eq? @_f "require")) @import
(assignment_expression left: [(identifier) (member_expression)] @_l (#match? @_l "^(module\\.)?exports\\b")) @import
(variable_declarator value: (assignment_expression left: (_) @_l) (#match? @_l "^(module\\.)?exports$")) @import
[(arrow_function) (function_expression) (generator_function) (method_definition) (catch_clause)] @scope

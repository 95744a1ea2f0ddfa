(call_expression) @call
(argument_list (variadic_argument)) @unpacked
[(selector_expression) (qualified_type)] @member
(field_declaration !name type: [(type_identifier) (qualified_type)] @base)
(field_declaration !name type: (generic_type type: (_) @base))
(type_elem [(type_identifier) (qualified_type)] @base)
(type_identifier) @type
(argument_list (identifier) @name)
(return_statement (expression_list (identifier) @name))
(assignment_statement right: (expression_list (identifier) @name))
(short_var_declaration right: (expression_list (identifier) @name))
(var_spec value: (expression_list (identifier) @name))
(binary_expression (identifier) @name)
(unary_expression (identifier) @name)
(keyed_element value: (literal_element (identifier) @name))
(literal_value (literal_element (identifier) @name))
(index_expression (identifier) @name)
(range_clause right: (identifier) @name)
(parameter_declaration name: (identifier)) @target
(short_var_declaration) @target
(var_spec) @target
(field_declaration name: (field_identifier)) @target
(parameter_declaration name: (identifier) @bound)
(variadic_parameter_declaration name: (identifier) @bound)
(short_var_declaration left: (expression_list (identifier) @bound))
(range_clause left: (expression_list (identifier) @bound))
(type_switch_statement alias: (expression_list (identifier) @bound))
(var_spec name: (identifier) @bound)
(function_declaration result: (_) @return)
(method_declaration result: (_) @return)
(method_elem result: (_) @return)
(import_spec) @import
(receive_statement left: (expression_list (identifier) @bound))
(const_spec name: (identifier) @bound)
[(block) (func_literal) (if_statement) (for_statement) (expression_switch_statement) (type_switch_statement) (communication_case) (expression_case) (type_case)] @scope

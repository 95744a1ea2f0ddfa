(jsx_opening_element name: [(identifier) (member_expression)] @name)
(jsx_self_closing_element name: [(identifier) (member_expression)] @name)
(jsx_expression (identifier) @name)

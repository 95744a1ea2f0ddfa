const std = @import("std");

pub const max_args = 10;
var counter: u32 = 0;

/// A parameter.
///
/// More.
pub const Param = struct {
    name: []const u8,

    pub fn init(name: []const u8) Param {
        const local = 1;
        _ = local;
        return .{ .name = name };
    }

    const Inner = enum { a, b };
};

pub const Names = union(enum) {
    short: u8,
};

pub const Error = error{ Missing, Extra };

pub fn Args(comptime T: type) type {
    return struct {
        pub fn deinit(self: *@This()) void {
            _ = self;
        }
    };
}

export fn add(a: i32, b: i32) i32 {
    return a + b;
}

fn private() void {}

test "adds" {
    _ = add(1, 2);
}

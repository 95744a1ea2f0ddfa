-module(sample).
-export([start/0, add/2]).

-define(LIMIT, 10).
-define(SQUARE(X), X * X).

-record(state, {name, count = 0}).

-type name() :: binary().
-opaque handle() :: pid().

%% Starts it.
-spec start() -> ok.
start() ->
    Local = 1,
    ok.

add(0, B) ->
    B;
add(A, B) ->
    A + B.

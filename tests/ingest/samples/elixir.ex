defmodule Ecto.Sample do
  @moduledoc """
  A sample.
  """

  use GenServer

  @timeout 5_000
  @type t :: %__MODULE__{name: String.t()}

  defstruct [:name]

  @doc """
  Starts it.

  More.
  """
  @spec start(keyword) :: {:ok, pid}
  def start(opts \\ []) do
    local = 1
    {:ok, local}
  end

  def size(%{name: name}) when is_binary(name), do: byte_size(name)
  def size(_), do: 0

  @impl true
  defp helper(x), do: x

  defmacro unless(clause, do: block) do
    quote do: unquote(block)
  end

  defguard is_even(x) when rem(x, 2) == 0

  defmodule Inner do
    def run, do: :ok
  end

  defdelegate fetch(key), to: Map
end

defprotocol Size do
  def size(data)
end

defimpl Size, for: Map do
  def size(map), do: map_size(map)
end

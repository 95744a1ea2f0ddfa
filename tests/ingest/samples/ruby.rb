# frozen_string_literal: true

require "json"

# Top of everything.
module Outer
  VERSION = "1.0"

  # A user.
  #
  # More.
  class User < ApplicationRecord
    LIMIT = 10
    attr_accessor :name, :age
    scope :active, -> { where(active: true) }

    def initialize(name)
      @name = name
      local = 1
    end

    def self.find(id)
      new(id)
    end

    class << self
      def build(*args)
        args
      end
    end

    private

    def valid?
      true
    end

    def name=(value) = @name = value

    define_method(:dynamic) { |x| x }

    alias_method :old_name, :name
    alias to_str to_s
  end

  class Error < StandardError; end
  Point = Struct.new(:x, :y) do
    def norm
      0
    end
  end

  module_function

  def helper; end
end

class Outer::Nested::Thing
  def call
  end
end

def top_level(a, b = 2)
  a + b
end

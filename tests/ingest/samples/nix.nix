{ pkgs, lib }:

let
  version = "1.0";

  # Builds it.
  build = { name, src }: pkgs.stdenv.mkDerivation {
    inherit name src;
  };

  double = x: x * 2;
in
{
  inherit version;
  package = build { name = "x"; src = ./.; };
  services.web.enable = true;
  helpers = {
    twice = f: x: f (f x);
  };
}

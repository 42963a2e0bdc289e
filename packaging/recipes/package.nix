# Untested: made from a template of netburn, never built with Nix.
{ lib, rustPlatform, fetchurl, installShellFiles }:

rustPlatform.buildRustPackage rec {
  pname = "netburn";
  version = "@VERSION@";

  src = fetchurl {
    url = "@SOURCE@";
    sha256 = "@SHA256@";
  };
  cargoLock.lockFile = ./Cargo.lock;

  cargoBuildFlags = [ "--package" "netburn" "--bin" "netburn" ];
  # The tests open sockets and namespaces, which the sandbox forbids.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    $out/bin/netburn generate man --out man
    installManPage man/*.1 man/*.5
    installShellCompletion --cmd netburn \
      --bash <($out/bin/netburn generate bash) \
      --zsh <($out/bin/netburn generate zsh) \
      --fish <($out/bin/netburn generate fish)
  '';

  meta = {
    description = "@SUMMARY@";
    homepage = "@HOMEPAGE@";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "netburn";
    platforms = lib.platforms.linux;
  };
}

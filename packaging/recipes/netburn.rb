# Untested: made from a template of netburn, never built with Homebrew. The lab needs Linux.
class Netburn < Formula
  desc "@SUMMARY@"
  homepage "@HOMEPAGE@"
  url "@SOURCE@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/netburn")
    system bin/"netburn", "generate", "man", "--out", "man"
    man1.install Dir["man/*.1"]
    man5.install Dir["man/*.5"]
    generate_completions_from_executable(bin/"netburn", "generate", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/netburn --version")
    system bin/"netburn", "run", "anomaly", "--on", "simulate", "--out", testpath/"run"
    assert_path_exists testpath/"run/run.json"
  end
end

//! Output on a terminal, which Python opens.

use crate::support::{Bench, finish, one_station};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs a command with standard output and standard error on a terminal of this many columns. Returns the terminal's
/// input.
pub(crate) fn on_terminal(bench: &Bench, columns: u16, args: &[&str], no_color: bool) -> String {
    let script = format!(
        "import fcntl, os, pty, struct, sys, termios\n\
         pid, fd = pty.fork()\n\
         if pid == 0:\n\
         \x20   fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 40, {columns}, 0, 0))\n\
         \x20   os.execv(sys.argv[1], sys.argv[1:])\n\
         while True:\n\
         \x20   try: data = os.read(fd, 4096)\n\
         \x20   except OSError: break\n\
         \x20   if not data: break\n\
         \x20   os.write(1, data)\n\
         os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    );
    let like = bench.netburn(args);
    let mut command = bench.prepared(Command::new("python3"));
    command.args(["-c", &script]).arg(like.get_program()).args(args);
    if no_color {
        command.env("NO_COLOR", "1");
    }
    let ended = finish(command);
    assert!(matches!(ended.code(), 0 | 3), "{}{}", ended.out(), ended.stderr);
    ended.out()
}

#[test]
fn a_terminal_gets_colour_and_a_live_view_unless_disabled() {
    let bench = Bench::new();
    bench.write("call.toml", one_station("voip", 20, 5));
    let args = ["run", "call.toml", "--on", "local", "--out", "saved"];
    let coloured = on_terminal(&bench, 80, &args, false);
    assert!(coloured.contains("\x1b[2mSTATION"), "{coloured}");
    assert!(
        (1..=5).any(|left| coloured.contains(&format!("running, {left} s left"))) && coloured.contains("A\x1b[J"),
        "a table redrawn in place: {coloured:?}"
    );
    let plain = on_terminal(&bench, 80, &["report", "saved"], true);
    assert!(plain.contains("STATION  VERDICT") && !plain.contains('\x1b'), "{plain}");
    let lines: Vec<&str> = plain.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{plain}");
}

#[test]
fn the_demo_fits_a_terminal_and_has_no_colours_with_no_color() {
    let bench = Bench::new();
    let demo = |columns: u16, folder: &str, no_color: bool| {
        on_terminal(
            &bench,
            columns,
            &["demo", "--on", "simulate", "--out", folder],
            no_color,
        )
    };
    let coloured = demo(80, "coloured", false);
    assert!(coloured.contains("\x1b[1m1. Problem\x1b[0m"), "{coloured}");
    let plain = demo(80, "plain", true);
    assert!(plain.contains("\n1. Problem\r\n") && !plain.contains('\x1b'), "{plain}");
    let (_, shown) = plain.split_once("1. Problem").unwrap();
    // Progress is overwritten.
    let lines: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.trim_end_matches('\r').rsplit('\r').next())
        .collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{plain}");
    // Too narrow for any text: the lines are wider than the terminal.
    assert!(demo(1, "narrow", true).contains("1. Problem"));
}

/// The browser of the desktop gets a private file, because the arguments of a process are public.
#[test]
fn netburn_at_a_terminal_of_a_desktop_opens_the_start_page() {
    let bench = Bench::new();
    let opener = "#!/bin/sh\nstat -c %a \"$1\" > opened.new\ncat \"$1\" >> opened.new\nmv opened.new opened\n";
    std::fs::create_dir(bench.path("bin")).unwrap();
    let opener = bench.write("bin/xdg-open", opener);
    std::fs::set_permissions(opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Ctrl-C, as soon as the browser was opened.
    let script = "import os, pty, sys, time\n\
                  pid, fd = pty.fork()\n\
                  if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
                  said = b''\n\
                  while b'Ctrl-C ends it' not in said: said += os.read(fd, 4096)\n\
                  for _ in range(600):\n\
                  \x20   if os.path.exists('opened'): break\n\
                  \x20   time.sleep(0.1)\n\
                  os.write(fd, b'\\x03')\n\
                  status = os.waitpid(pid, 0)[1]\n\
                  os.write(1, said)\n\
                  os._exit(os.waitstatus_to_exitcode(status))\n";
    let like = bench.with_state("state", &[]);
    let inside = "ip link set lo up && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--net", "--", "sh", "-c", inside, "sh", "python3", "-c", script])
        .arg(like.get_program());
    let mut command = bench.prepared(command);
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    command
        .env("PATH", path)
        .env("DISPLAY", ":9")
        .env("NETBURN_STATE", bench.path("state"));
    let said = finish(command).expect(0).out();
    assert!(said.contains("Start with one of these"), "{said}");
    let url = said
        .split_whitespace()
        .find(|word| word.contains("/runs/#key="))
        .unwrap();
    let opened = std::fs::read_to_string(bench.path("opened")).unwrap();
    assert!(
        opened.starts_with("600\n") && opened.contains(&format!("url={url}\"")),
        "{url}\n{opened}"
    );
}

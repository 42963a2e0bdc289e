//! Input other than the text: `--set` arguments, the environment, files.

use crate::with_queues;
use netburn_scenario::{Document, Environment, MAX_FILE_SIZE, load};

#[test]
fn arguments_are_checked_like_keys() {
    let set = |key: &str, value: &str| {
        let mut document = load("four-uses").unwrap();
        let result = document.set(key, value).and_then(|()| document.resolve());
        result.map(|_| ()).map_err(|error| error.to_string())
    };
    for (key, value) in [
        ("station.tv.signal", "-80 dBm"),
        ("station.tv.signal", "\"-80 dBm\""),
        ("duration", "20s"),
        ("seed", "7"),
        ("title", "5"),
        ("server.http", "2"),
        ("server.link.rate", "15Mbit/s"),
        ("server.link", "{ rate = \"15 Mbit/s\", delay = \"1 ms\" }"),
        ("station.tv.workload", "[\"voip\", \"download\"]"),
        ("station.tv.tsq", "2012"),
        ("station.tv.tsq.shift", "8"),
        ("station.tv.adapter_rate.up", "5 Mbit/s"),
        ("ap.home.queue", "airtime"),
        ("ap.home.radio.2g.width", "40 MHz"),
    ] {
        assert_eq!(set(key, value), Ok(()), "{key}={value}");
    }
    for (key, value, expected) in [
        (
            "station.tv.singal",
            "-80 dBm",
            "`station.tv` has no key `singal`; did you mean `station.tv.signal`?",
        ),
        (
            "sation.tv.signal",
            "-80 dBm",
            "a scenario has no key `sation`; did you mean `station`?",
        ),
        (
            "station.tvv.signal",
            "-80 dBm",
            "unknown station `tvv`; did you mean `tv`?",
        ),
        (
            "workload.film.priority",
            "video",
            "unknown workload `film`; the scenario has no `workload` section",
        ),
        (
            "station.tv.signal",
            "-80",
            "station.tv.signal: `-80` has no unit; write it as `\"-80 dBm\"`",
        ),
        (
            "station.tv.signal.low",
            "5",
            "`station.tv.signal` has no keys below it; set `station.tv.signal` itself",
        ),
        ("duration", "60", "duration: `60` has no unit; write it as `\"60 s\"`"),
        (
            "station.tv.workload",
            "[\"voip\"",
            "invalid TOML value at character 8: unclosed array, expected `]`",
        ),
        (
            "ap.home.queue",
            "fq",
            "ap.home.queue: unknown value `fq`; did you mean `fq-codel`? Expected one of {queues of a radio}",
        ),
        (
            "",
            "5",
            "a scenario has no key ``; expected one of `schema`, `name`, `title`, `question`, `assumptions`, `duration`, `warmup`, `baseline`, `drain`, `seed`, `repeat`, `server`, `building`, `router`, `network`, `ap`, `kit`, `mesh`, `station`, `workload`, `at`",
        ),
    ] {
        let expected = with_queues(expected);
        assert_eq!(set(key, value), Err(format!("--set {key}={value}: {expected}")));
    }
    let mut document = load("four-uses").unwrap();
    document.set("ap.home.wan.down", "50 Mbit/s").unwrap();
    document.set("ap.home.wan.up", "10 Mbit/s").unwrap();
    let plan = document.resolve().unwrap();
    assert_eq!(plan.aps[0].wan.as_ref().unwrap().up.unwrap().to_string(), "10 Mbit/s");
}

#[test]
fn a_key_below_a_single_value_cannot_be_set() {
    let mut document = Document::from_toml("x.toml", "[station.pc]\nwired = false\n").unwrap();
    let error = document.set("station.pc.wired.up", "1 Mbit/s").unwrap_err();
    assert_eq!(
        error.to_string(),
        "--set station.pc.wired.up=1 Mbit/s: `station.pc.wired` is a single value in this scenario; set the whole value: \
         `--set 'station.pc.wired={ … }'`"
    );
}

/// A key below a short form: the short form stands for a section, whose other keys stay.
#[test]
fn a_short_form_becomes_its_section() {
    let house = "[ap.home]\naql = true\nradio.5g = {}\n[network.home]\nradios = [\"home.5g\"]\nv = true\nsteering = \"usteer\"\n\
                 [station.pc]\nwired = \"100 Mbit/s\"\nworkload = \"upload\"\n\
                 [station.nas]\nwired = true\nworkload = \"upload\"\n\
                 [station.tv]\nwired = \"home\"\nworkload = \"upload\"\n\
                 [station.phone]\njoins = \"home\"\nsignal = \"-60 dBm\"\nadapter_rate = \"5 Mbit/s\"\npower_save = \"legacy\"\n\
                 roaming = \"linux\"\nworkload = \"upload\"\n";
    for (key, value, short, section) in [
        (
            "station.nas.wired.up",
            "9 Mbit/s",
            "wired = true",
            "wired = { up = \"9 Mbit/s\" }",
        ),
        // `link` and `wired` are names of one section.
        (
            "station.nas.link.up",
            "9 Mbit/s",
            "wired = true",
            "wired = { up = \"9 Mbit/s\" }",
        ),
        (
            "station.pc.wired.up",
            "9 Mbit/s",
            "wired = \"100 Mbit/s\"",
            "wired = { rate = \"100 Mbit/s\", up = \"9 Mbit/s\" }",
        ),
        (
            "station.tv.wired.up",
            "9 Mbit/s",
            "wired = \"home\"",
            "wired = { to = \"home\", up = \"9 Mbit/s\" }",
        ),
        (
            "station.phone.adapter_rate.up",
            "9 Mbit/s",
            "adapter_rate = \"5 Mbit/s\"",
            "adapter_rate = { up = \"9 Mbit/s\", down = \"5 Mbit/s\" }",
        ),
        (
            "station.phone.roaming.trigger",
            "-80 dBm",
            "roaming = \"linux\"",
            "roaming = { policy = \"linux\", trigger = \"-80 dBm\" }",
        ),
        (
            "network.home.steering.trigger",
            "-80 dBm",
            "steering = \"usteer\"",
            "steering = { policy = \"usteer\", trigger = \"-80 dBm\" }",
        ),
        ("ap.home.aql.low", "4 ms", "aql = true", "aql = { low = \"4 ms\" }"),
    ] {
        let mut document = Document::from_toml("x.toml", house).unwrap();
        document.set(key, value).unwrap();
        let wanted = Document::from_toml("x.toml", &house.replacen(short, section, 1)).unwrap();
        assert_eq!(document.resolve().unwrap(), wanted.resolve().unwrap(), "{key}");
    }
}

#[test]
fn an_environment_needs_its_keys() {
    let bare = Document::from_toml("x.toml", "[station.tv]\nworkload = \"4kstream\"\ncc = \"dctcp\"\n").unwrap();
    assert!(bare.resolve_for(Environment::Local).is_ok());
    assert!(bare.resolve_for(Environment::Fleet).is_ok());
    assert_eq!(
        bare.resolve_for(Environment::Lab).unwrap_err().to_string(),
        "x.toml: no access point; add one with `[ap.home.radio.5g]`, or use `--on local`; lab models the air"
    );
    assert!(
        bare.resolve_for(Environment::Simulate)
            .unwrap_err()
            .to_string()
            .contains(
                "x.toml:3:1: station.tv.cc: `dctcp` is not modelled on simulate; expected `reno`, `cubic` or `bbr`"
            )
    );
    let text = "[ap.c7]\nrating = \"AC1750\"\n[station.tv]\n";
    let error = Document::from_toml("x.toml", text)
        .unwrap()
        .resolve_for(Environment::Simulate)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.toml:3:10: station.tv: missing `joins`, which simulate needs; add `joins = \"c7.5g\"`\n\
         x.toml:3:10: station.tv: missing link quality, which simulate needs; add `signal = \"-60 dBm\"`, \
         `distance = \"6 m\"` or `mcs = 7`"
    );
    // In a file with positions, the position is what is missing.
    let text = "[ap.c7]\nposition = \"0 m, 0 m\"\nradio.5g = {}\n[station.tv]\njoins = \"c7.5g\"\n";
    let error = Document::from_toml("x.toml", text)
        .unwrap()
        .resolve_for(Environment::Simulate)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.toml:4:10: station.tv: missing link quality, which simulate needs; add `position = \"3 m, 2 m\"`, `signal = \"-60 dBm\"`, \
         `distance = \"6 m\"` or `mcs = 7`"
    );
}

/// Without a WAN link there is no hop beyond the router. On a real network the model of an access point does not matter.
#[test]
fn a_probe_needs_a_host_that_answers() {
    let errors = |text: &str, environment| {
        let document = Document::from_toml("x.toml", text).unwrap();
        document
            .resolve_for(environment)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let probes =
        "[workload.near]\nkind = \"probe\"\ntarget = \"near\"\n[workload.line]\nkind = \"probe\"\ntarget = \"line\"\n";
    let station = "[station.tv]\njoins = \"c7.5g\"\nsignal = \"-50 dBm\"\nworkload = [\"near\", \"line\"]\n";
    let without = format!("[ap.c7.radio.5g]\n{station}{probes}");
    for environment in [Environment::Simulate, Environment::Lab] {
        assert_eq!(
            errors(&without, environment).unwrap_err(),
            "x.toml:5:1: station.tv.workload: `line` has the target `line`, and access point `c7` has no WAN link; \
             add `[ap.c7.wan]`, or set `target = \"server\"`"
        );
    }
    assert_eq!(errors(&without, Environment::Fleet), Ok(()));
    let with = format!("[ap.c7]\nwan = {{ up = \"10 Mbit/s\" }}\n{without}");
    assert_eq!(errors(&with, Environment::Simulate), Ok(()));
    // The unit's packets pass the WAN link of its parent.
    let unit = "[ap.c7]\nbackhaul = \"root.5g\"\nbackhaul_signal = \"-60 dBm\"\n[ap.root]\nwan = { up = \"10 Mbit/s\" }\n[ap.root.radio.5g]\n";
    assert_eq!(errors(&format!("{unit}{without}"), Environment::Simulate), Ok(()));
    let wired = format!("[station.tv]\nworkload = \"near\"\nlink = {{ rate = \"1 Gbit/s\" }}\n{probes}");
    assert_eq!(
        errors(&wired, Environment::Simulate).unwrap_err(),
        "x.toml:2:1: station.tv.workload: `near` has the target `near`, and a station with a `link` to the server has no \
         access point; set `target = \"server\"`, or use `wired` instead of `link`"
    );
    let local = format!("[station.tv]\nworkload = \"near\"\n{probes}");
    assert_eq!(
        errors(&local, Environment::Local).unwrap_err(),
        "x.toml:2:1: station.tv.workload: `near` has the target `near`, and local has no access point; \
         set `target = \"server\"`, or use another environment"
    );
}

#[test]
fn files_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let error = |name: &str| load(&path(name)).unwrap_err().to_string().replace(&path(name), name);

    assert_eq!(
        load(directory.path().to_str().unwrap()).unwrap_err().problems()[0].message,
        "found a directory, expected a file"
    );
    // A record has its scenario, and a damaged one is no scenario.
    let record = directory.path().join("run.json");
    for (text, expected) in [
        (
            "{ \"plan\": ",
            "invalid JSON: EOF while parsing a value at line 1 column 10",
        ),
        ("{ \"plan\": { \"station\": 7 } }", "station"),
        ("{}", "station"),
        (&format!("{{\"a\": {}", "[".repeat(1 << 19)), "recursion limit exceeded"),
    ] {
        std::fs::write(&record, text).unwrap();
        let wrong = load(record.to_str().unwrap()).and_then(|document| document.resolve());
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains(expected), "{wrong}");
    }
    std::fs::remove_file(&record).unwrap();

    assert_eq!(
        error("nowhere.toml"),
        "nowhere.toml: no such file, and no built-in scenario with this name; `netburn scenarios` lists the built-in scenarios, such \
         as `four-uses`, `slow-neighbour`, `evening-at-home`"
    );
    assert_eq!(
        load("four-use").unwrap_err().to_string(),
        "four-use: no such file, and no built-in scenario with this name; did you mean `four-uses`? `netburn scenarios` lists the \
         built-in scenarios"
    );

    // A sparse file: the reader checks only its size.
    let large = std::fs::File::create(path("large.toml")).unwrap();
    large.set_len(100 << 20).unwrap();
    assert_eq!(
        error("large.toml"),
        "large.toml: file too large: found 104857600 bytes; expected up to 1 MiB"
    );
    let mut most = String::from("[station.tv]\n#");
    most.push_str(&"x".repeat(MAX_FILE_SIZE as usize - most.len()));
    std::fs::write(path("most.toml"), &most).unwrap();
    assert!(load(&path("most.toml")).is_ok());

    std::fs::write(path("latin.toml"), b"[station.tv]\ntitle = \"\xe9\"\n").unwrap();
    assert_eq!(
        error("latin.toml"),
        "latin.toml:2:10: invalid UTF-8: byte 0xE9 at offset 22; save the file as UTF-8"
    );
    std::fs::write(path("empty.toml"), b"").unwrap();
    assert!(error("empty.toml").starts_with("empty.toml: the file is empty; "));

    std::fs::write(path("my file.toml"), "[station.tv]\n").unwrap();
    assert_eq!(load(&path("my file.toml")).unwrap().resolve().unwrap().name, "my-file");
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_rejected() {
    let error = load("/dev/zero").unwrap_err().to_string();
    assert_eq!(
        error,
        "/dev/zero: cannot read the file: found a device, expected a regular file"
    );
}

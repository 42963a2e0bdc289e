//! Bundles: the content survives, other programs can read them, and hostile archives are rejected.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use netburn_interop::bundle::{BundleError, BundleWriter, LIMIT, Manifest, entries, unpack};
use netburn_record::UnixTime;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use tar::{Builder, EntryType, Header};

/// 2026-11-21 18:30:00 UTC.
const TIME: UnixTime = UnixTime(1_795_285_800_000_000_000);

fn bundle(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = BundleWriter::create(Vec::new(), &Manifest::new(true), TIME).unwrap();
    for (name, content) in files {
        writer.add(name, content.len() as u64, *content).unwrap();
    }
    writer.finish().unwrap()
}

fn try_unpack(bytes: &[u8]) -> (Result<Manifest, BundleError>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let result = unpack(bytes, dir.path(), LIMIT);
    (result, dir)
}

fn gzip() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

fn manifest_json() -> Vec<u8> {
    serde_json::to_vec(&Manifest::new(true)).unwrap()
}

/// An archive that begins with this manifest.
fn begun<W: Write>(output: W, manifest: &[u8]) -> Builder<W> {
    let mut archive = Builder::new(output);
    raw(
        &mut archive,
        b"netburn-bundle/bundle.json",
        EntryType::Regular,
        manifest,
    );
    archive
}

fn finished(archive: Builder<GzEncoder<Vec<u8>>>) -> Vec<u8> {
    archive.into_inner().unwrap().finish().unwrap()
}

/// An archive with the manifest and then one entry, whose name and type are written without checks.
fn hostile(name: &[u8], kind: EntryType, content: &[u8]) -> Vec<u8> {
    let mut archive = begun(gzip(), &manifest_json());
    raw(&mut archive, name, kind, content);
    finished(archive)
}

fn raw<W: Write>(archive: &mut Builder<W>, name: &[u8], kind: EntryType, content: &[u8]) {
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    if kind == EntryType::Symlink {
        header.set_link_name("/etc/passwd").unwrap();
    }
    header.set_cksum();
    archive.append(&header, content).unwrap();
}

#[test]
fn the_content_survives_and_tar_reads_it() {
    let files: [(&str, &[u8]); 4] = [
        ("run/run.json", b"{}"),
        ("run/12/operations.parquet", &[7; 100_000]),
        ("run/report.html", b""),
        ("system.json", b"[]"),
    ];
    let bytes = bundle(&files);
    let (manifest, dir) = try_unpack(&bytes);
    assert_eq!(manifest.unwrap(), Manifest::new(true));
    for (name, content) in files {
        assert_eq!(std::fs::read(dir.path().join(name)).unwrap(), content, "{name}");
    }
    let path = dir.path().join("bundle.tar.gz");
    std::fs::write(&path, bytes).unwrap();
    let listed = Command::new("tar")
        .arg("-tvzf")
        .arg(path)
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 5, "{listed}");
    assert_eq!(
        lines[2],
        [
            "-rw-r--r--",
            "0/0",
            "100000",
            "2026-11-21",
            "18:30",
            "netburn-bundle/run/12/operations.parquet"
        ]
    );
}

/// GNU tar writes folders, and its output is padded.
#[test]
fn an_archive_that_was_packed_again_is_read() {
    let (manifest, dir) = try_unpack(&bundle(&[("run/run.json", b"{}")]));
    assert!(manifest.is_ok());
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("netburn-bundle")).unwrap();
    std::fs::rename(dir.path().join("run"), root.path().join("netburn-bundle/run")).unwrap();
    std::fs::write(root.path().join("netburn-bundle/bundle.json"), manifest_json()).unwrap();
    let packed = Command::new("tar")
        .args(["-czf", "-", "netburn-bundle/bundle.json", "netburn-bundle/run"])
        .current_dir(root.path())
        .output()
        .unwrap();
    let (manifest, again) = try_unpack(&packed.stdout);
    assert_eq!(manifest.unwrap(), Manifest::new(true));
    assert_eq!(std::fs::read(again.path().join("run/run.json")).unwrap(), b"{}");
}

#[test]
fn entries_that_are_no_files_of_a_bundle_are_rejected() {
    let below = |name: &str| format!("netburn-bundle/{name}").into_bytes();
    for (name, kind, why) in [
        (below("../../etc/cron.d/x"), EntryType::Regular, "its name is unknown"),
        (below("run/../../x"), EntryType::Regular, "its name is unknown"),
        (below("run/./run.json"), EntryType::Regular, "its name is unknown"),
        (below("run/notes.txt"), EntryType::Regular, "its name is unknown"),
        (below("bundle.json"), EntryType::Regular, "it occurs twice"),
        (
            b"/etc/passwd".to_vec(),
            EntryType::Regular,
            "it is outside the folder of the archive",
        ),
        (
            b"../x".to_vec(),
            EntryType::Regular,
            "it is outside the folder of the archive",
        ),
        (below("run/run.json"), EntryType::Symlink, "it is not a regular file"),
        (below("run/run.json"), EntryType::Link, "it is not a regular file"),
        (below("run/spool"), EntryType::Fifo, "it is not a regular file"),
        (below("run/spool"), EntryType::Char, "it is not a regular file"),
        (below("run/spool"), EntryType::Block, "it is not a regular file"),
        (below("run/spool"), EntryType::GNUSparse, "it is not a regular file"),
        (
            b"././@LongLink".to_vec(),
            EntryType::GNULongName,
            "it is not a regular file",
        ),
        (below("x"), EntryType::XHeader, "it is not a regular file"),
        (below("x"), EntryType::XGlobalHeader, "it is not a regular file"),
    ] {
        let (result, dir) = try_unpack(&hostile(&name, kind, b"x"));
        let Err(BundleError::Unexpected { why: found, .. }) = result else {
            panic!("{}: {result:?}", String::from_utf8_lossy(&name));
        };
        assert_eq!(found, why, "{}", String::from_utf8_lossy(&name));
        assert_eq!(count(dir.path()), 0, "nothing was written");
    }
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn another_file_is_no_bundle() {
    let mut other = Builder::new(gzip());
    raw(&mut other, b"other/file", EntryType::Regular, b"x");
    let mut late = Builder::new(gzip());
    raw(&mut late, b"netburn-bundle/run/run.json", EntryType::Regular, b"{}");
    let mut nothing = Builder::new(gzip());
    nothing.finish().unwrap();
    let mut text = gzip();
    text.write_all(b"This is no archive, although it is compressed.")
        .unwrap();
    for bytes in [
        Vec::new(),
        b"text".to_vec(),
        finished(other),
        finished(late),
        finished(nothing),
        text.finish().unwrap(),
    ] {
        let (result, _dir) = try_unpack(&bytes);
        assert!(matches!(result, Err(BundleError::NotABundle(_))), "{result:?}");
    }
}

#[test]
fn a_newer_version_is_named() {
    let archive = begun(gzip(), br#"{"schema": "netburn.bundle/2", "new": []}"#);
    let (result, _dir) = try_unpack(&finished(archive));
    assert!(matches!(result, Err(BundleError::Newer { found: 2 })), "{result:?}");
}

/// 64 MiB of zeros are about 64 kB of gzip.
#[test]
fn an_archive_above_the_limit_is_rejected_before_it_is_unpacked() {
    let bytes = bundle(&[("run/operations.parquet", &vec![0; 64 << 20])]);
    assert!(bytes.len() < 200_000, "{}", bytes.len());
    let dir = tempfile::tempdir().unwrap();
    let result = unpack(&bytes[..], dir.path(), 1 << 20);
    assert!(
        matches!(result, Err(BundleError::TooLarge(limit)) if limit == 1 << 20),
        "{result:?}"
    );
    let written = std::fs::metadata(dir.path().join("run/operations.parquet"))
        .unwrap()
        .len();
    assert!(written <= 1 << 20, "{written}");
    // The whole archive: a manifest, the file, and two zero blocks at the end, in blocks of 512 bytes.
    let mut tar = Vec::new();
    GzDecoder::new(&bytes[..]).read_to_end(&mut tar).unwrap();
    assert_eq!(tar.len(), 512 * (1 + 1 + 1 + 131_072 + 2));
    let dir = tempfile::tempdir().unwrap();
    assert!(unpack(&bytes[..], dir.path(), tar.len() as u64).is_ok());
}

/// Empty folders need few bytes, because their headers are compressed.
#[test]
fn an_archive_with_too_many_entries_is_rejected() {
    let mut archive = begun(gzip(), &manifest_json());
    for _ in 0..100_000 {
        raw(&mut archive, b"netburn-bundle/run/", EntryType::Directory, b"");
    }
    let (result, _dir) = try_unpack(&finished(archive));
    assert!(matches!(result, Err(BundleError::TooMany)), "{result:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("system.json")).unwrap();
    // `create_new` never follows a link that is already there.
    let result = unpack(&bundle(&[("system.json", b"{}")])[..], dir.path(), LIMIT);
    assert!(matches!(result, Err(BundleError::Write { .. })), "{result:?}");
    let result = BundleWriter::create(std::fs::File::create("/dev/full").unwrap(), &Manifest::new(false), TIME)
        .and_then(BundleWriter::finish);
    assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let mut writer = BundleWriter::create(Vec::new(), &Manifest::new(true), TIME).unwrap();
    let error = writer.add("run/run.json", 3, &b"{}"[..]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A cut archive never looks like a complete one.
    #[test]
    fn a_cut_archive_is_an_error(cut in 0.0..1.0_f64) {
        let bytes = bundle(&[("run/run.json", b"{\"a\": 1}"), ("run/spool", &[3; 3000])]);
        let length = (bytes.len() as f64 * cut) as usize;
        let (result, _dir) = try_unpack(&bytes[..length]);
        prop_assert!(result.is_err(), "{} of {} bytes", length, bytes.len());
    }

    /// A changed byte of the compressed archive is detected, or changes nothing of the content. The header of gzip (10 bytes)
    /// describes nothing of it, and bits after the last block are not used.
    #[test]
    fn a_changed_byte_is_an_error(at in 10..400_usize, bit in 0..8) {
        let mut bytes = bundle(&[("run/run.json", b"{\"a\": 1}"), ("system.json", b"{}")]);
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= 1_u8 << bit;
        let (result, dir) = try_unpack(&bytes);
        if result.is_ok() {
            let content = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
            prop_assert_eq!(content("run/run.json"), b"{\"a\": 1}", "byte {}", at);
            prop_assert_eq!(content("system.json"), b"{}", "byte {}", at);
        }
    }

    /// Any bytes as an uncompressed archive: no panic, and only valid names.
    #[test]
    fn names_are_always_valid(name in "[a-z./0-9]{0,40}", content in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut archive = begun(Vec::new(), &manifest_json());
        raw(&mut archive, format!("netburn-bundle/{name}").as_bytes(), EntryType::Regular, &content);
        let archive = archive.into_inner().unwrap();
        let _ = entries(&archive[..], LIMIT, &mut |name, _| {
            assert!(!name.contains("..") && !name.starts_with('/'));
            Ok(())
        });
    }
}

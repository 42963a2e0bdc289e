#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_linux::nl80211::fuzz::check(bytes));

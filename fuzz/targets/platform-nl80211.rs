#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_platform::wifi::nl80211::fuzz::check(bytes));

#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_fleet_controller::fuzz::hub::check(bytes));

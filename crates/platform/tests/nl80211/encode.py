#!/usr/bin/env python3
"""Writes encoded.wifi: messages of nl80211 as pyroute2 (0.9.7, an encoder that is not ours) encodes them.

    python3 -m venv venv && venv/bin/pip install pyroute2==0.9.7 && venv/bin/python encode.py > encoded.wifi

What each message says is in the comment before it, and in tests/nl80211.rs.
"""

from pyroute2.netlink.nl80211 import nl80211cmd

FAMILY = 0x24
INTERFACE, STATION, SURVEY = 7, 19, 51
CONNECT, ROAM, DISCONNECT, SWITCH = 46, 47, 48, 88


FORMATS = {"NL80211_ATTR_SSID": "cdata", "NL80211_ATTR_STATUS_CODE": "uint16", "NL80211_ATTR_DISCONNECTED_BY_AP": "flag"}


class command(nl80211cmd):
    """pyroute2 reads these and knows no encoding for them."""

    prefix = "NL80211_ATTR_"
    nla_map = tuple((name, FORMATS.get(name, form)) for name, form in nl80211cmd.nla_map)


def put(kind, number, attrs, comment, at=0, sequence=1):
    message = command()
    message["header"]["type"] = FAMILY
    message["header"]["sequence_number"] = sequence
    message["header"]["flags"] = 2
    message["cmd"] = number
    message["version"] = 1
    message["attrs"] = [("NL80211_ATTR_" + name, value) for name, value in attrs]
    message.encode()
    print(f"# {comment}")
    print(at, kind, bytes(message.data).hex())


def sta(*attrs):
    return {"attrs": [("NL80211_STA_INFO_" + name, value) for name, value in attrs]}


def rate(*attrs):
    return {"attrs": [("NL80211_RATE_INFO_" + name, value) for name, value in attrs]}


def survey(*attrs):
    return {"attrs": [("NL80211_SURVEY_INFO_" + name, value) for name, value in attrs]}


def station(mac, told, comment, at=0):
    attrs = [("IFINDEX", 3), ("MAC", mac), ("GENERATION", 9), ("STA_INFO", told)]
    put("station", STATION, attrs, comment, at)


def main():
    print("netburn-wifi 1 little")
    ap = "02:00:00:00:01:00"
    put("interface", INTERFACE,
        [("IFINDEX", 3), ("IFNAME", "wlan0"), ("WIPHY", 0), ("IFTYPE", 2), ("MAC", "02:00:00:00:00:03"),
         ("GENERATION", 5), ("SSID", b"Caf\xc3\xa9"), ("WIPHY_FREQ", 5180), ("CHANNEL_WIDTH", 3), ("CENTER_FREQ1", 5210)],
        "wlan0, a station of `Café`, 5180 MHz, 80 MHz wide around 5210")
    put("interface", INTERFACE, [("IFINDEX", 4), ("IFNAME", "wlan1"), ("WIPHY", 1), ("IFTYPE", 2), ("MAC", "02:00:00:00:00:04")],
        "wlan1, which has joined nothing")
    put("interface", INTERFACE, [("WIPHY", 1), ("IFTYPE", 10), ("MAC", "02:00:00:00:00:05")], "a P2P device, which is no interface")
    station(ap, sta(("INACTIVE_TIME", 24), ("RX_BYTES", 1000), ("TX_BYTES", 2000), ("SIGNAL", -56), ("SIGNAL_AVG", -55),
                    ("TX_BITRATE", rate(("BITRATE", 540))), ("RX_BITRATE", rate(("BITRATE", 10))),
                    ("RX_PACKETS", 11), ("TX_PACKETS", 12), ("TX_RETRIES", 3), ("TX_FAILED", 1), ("CONNECTED_TIME", 61)),
            "802.11g: 54 Mbit/s out, 1 Mbit/s in, 32-bit counters only")
    station(ap, sta(("SIGNAL", -70), ("TX_BITRATE", rate(("BITRATE", 3000), ("MCS", 15), ("40_MHZ_WIDTH", None), ("SHORT_GI", None))),
                    ("RX_BITRATE", rate(("BITRATE", 65), ("MCS", 0)))),
            "802.11n: 300 Mbit/s by MCS 15, 40 MHz, short guard; 6.5 Mbit/s by MCS 0")
    station(ap, sta(("RX_BYTES", 4294967295), ("RX_BYTES64", 5000000000), ("TX_BYTES64", 6000000000), ("SIGNAL", -48), ("SIGNAL_AVG", -49),
                    ("TX_BITRATE", rate(("BITRATE", 8667), ("BITRATE32", 8667), ("VHT_MCS", 9), ("VHT_NSS", 2), ("80_MHZ_WIDTH", None), ("SHORT_GI", None))),
                    ("RX_BITRATE", rate(("BITRATE32", 17333), ("VHT_MCS", 9), ("VHT_NSS", 2), ("160_MHZ_WIDTH", None), ("SHORT_GI", None))),
                    ("TX_RETRIES", 77), ("TX_FAILED", 2), ("BEACON_LOSS", 4)),
            "802.11ac: 866.7 Mbit/s by MCS 9, 2 streams, 80 MHz; 1733.3 by the same at 160 MHz; 64-bit counters")
    station(ap, sta(("SIGNAL", -40),
                    ("TX_BITRATE", rate(("BITRATE32", 12010), ("HE_MCS", 11), ("HE_NSS", 2), ("HE_GI", 0), ("HE_DCM", 0), ("80_MHZ_WIDTH", None))),
                    ("RX_BITRATE", rate(("BITRATE32", 86), ("HE_MCS", 0), ("HE_NSS", 1), ("HE_GI", 2), ("HE_DCM", 0), ("HE_RU_ALLOC", 2)))),
            "802.11ax: 1201 Mbit/s by MCS 11, 2 streams, 80 MHz, 0.8 µs; a resource unit of 106 tones, 3.2 µs")
    station(ap, sta(("SIGNAL", -35),
                    ("TX_BITRATE", rate(("BITRATE32", 57647), ("320_MHZ_WIDTH", None), ("EHT_MCS", 13), ("EHT_NSS", 2), ("EHT_GI", 0))),
                    ("RX_BITRATE", rate(("BITRATE32", 2882), ("EHT_MCS", 13), ("EHT_NSS", 1), ("EHT_GI", 1), ("EHT_RU_ALLOC", 6)))),
            "802.11be: 5764.7 Mbit/s by MCS 13, 2 streams, 320 MHz, 0.8 µs; a resource unit of 484 tones, 1.6 µs")
    put("survey", SURVEY, [("IFINDEX", 3), ("SURVEY_INFO", survey(("FREQUENCY", 5200), ("NOISE", 256 - 92)))],
        "a channel that the radio is not on")
    put("survey", SURVEY, [("IFINDEX", 3), ("SURVEY_INFO", survey(("FREQUENCY", 5180), ("NOISE", 256 - 95), ("IN_USE", None), ("TIME", 10000),
                           ("TIME_BUSY", 4300), ("TIME_RX", 2100), ("TIME_TX", 900)))],
        "the radio's own: 10 s, of which 4.3 busy, 2.1 receiving, 0.9 sending; noise -95 dBm")
    put("event", CONNECT, [("WIPHY", 0), ("IFINDEX", 3), ("MAC", ap), ("STATUS_CODE", 0)], "joined", sequence=0)
    put("event", CONNECT, [("WIPHY", 0), ("IFINDEX", 3), ("MAC", ap), ("STATUS_CODE", 17)], "not let in: full", sequence=0)
    put("event", ROAM, [("WIPHY", 0), ("IFINDEX", 3), ("MAC", "02:00:00:00:02:00")], "moved", sequence=0)
    put("event", DISCONNECT, [("WIPHY", 0), ("IFINDEX", 3), ("REASON_CODE", 4), ("DISCONNECTED_BY_AP", None)], "sent away for inactivity", sequence=0)
    put("event", SWITCH, [("IFINDEX", 3), ("WIPHY_FREQ", 5745), ("CHANNEL_WIDTH", 2), ("CENTER_FREQ1", 5755)], "another channel", sequence=0)


main()

// The network of a plan in ns-3: one access point, its stations, a server behind a wire, and the flows between them.
// program.py compiles this in memory against the headers of the installed ns-3, fills in a Plan, and calls run().
// docs/reference/crosscheck.md gives the reason of each setting.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace crosscheck
{
using namespace ns3;

struct Flow
{
    int station;
    bool up;
    bool tcp;
    // Time between datagrams in ns. Each is sent at a random instant of its period.
    double period;
    // Bytes of a packet, IP header included.
    int length;
};

struct Plan
{
    int seed;
    // Nanoseconds.
    double warmup;
    double duration;
    std::string standard;
    bool band2;
    int width;
    int guard;
    int streams;
    // By station: the ns-3 mode of its data frames.
    std::vector<std::string> modes;
    // The largest A-MPDU in bytes (0: no aggregation) and in MPDUs.
    int ampduBytes;
    int ampduFrames;
    int tries;
    // Bytes that encryption adds to a frame.
    int encryption;
    int cwMin;
    bool explicitBar;
    bool detectPreambles;
    // Packets that the queueing discipline holds, and the MAC's queue below it.
    std::string apQueue, stationQueue;
    int apLimit, stationLimit;
    int apFrames, stationFrames;
    double delay;
    double rate;
    std::string congestion;
    int segment;
    int probeLength;
    double probePeriod;
    std::vector<Flow> flows;
};

struct Result
{
    // By flow: bytes of content after the warm-up.
    std::vector<double> bytes;
    // By station: round trips of its probes in ms, and how many probes it sent.
    std::vector<std::vector<double>> roundTrips;
    std::vector<int> probes;
    double ppdus{0}, mpdus{0}, failed{0};
    bool associated{true};
};

static Plan g_plan;
static Result g_result;

static bool
Counts(Time at)
{
    return at >= NanoSeconds(g_plan.warmup);
}

// One fixed rate for the data frames between the access point and a station, both ways.
class Rates : public WifiRemoteStationManager
{
  public:
    static std::map<Mac48Address, std::string>& Modes()
    {
        static std::map<Mac48Address, std::string> modes;
        return modes;
    }

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("crosscheck::Rates")
                                .SetParent<WifiRemoteStationManager>()
                                .AddConstructor<Rates>();
        return tid;
    }

    std::string mode;

  private:
    WifiRemoteStation* DoCreateStation() const override
    {
        return new WifiRemoteStation();
    }

    WifiTxVector DoGetDataTxVector(WifiRemoteStation* station, MHz_u allowed) override
    {
        auto known = Modes().find(GetAddress(station));
        WifiMode data(known == Modes().end() ? mode : known->second);
        auto kind = data.GetModulationClass();
        bool streams = kind >= WIFI_MOD_CLASS_HT;
        int nss = streams ? g_plan.streams : 1;
        MHz_u width = std::min(allowed, GetPhy()->GetChannelWidth());
        if (!streams)
        {
            width = (kind == WIFI_MOD_CLASS_DSSS || kind == WIFI_MOD_CLASS_HR_DSSS) ? 22 : 20;
        }
        Time guard = NanoSeconds(streams ? g_plan.guard : 800);
        return WifiTxVector(data,
                            GetDefaultTxPowerLevel(),
                            GetPreambleForTransmission(kind, GetShortPreambleEnabled()),
                            guard,
                            GetPhy()->GetNumberOfAntennas(),
                            nss,
                            0,
                            width,
                            GetAggregation(station));
    }

    WifiTxVector DoGetRtsTxVector(WifiRemoteStation* station) override
    {
        return WifiTxVector(GetPhy()->GetDefaultMode(),
                            GetDefaultTxPowerLevel(),
                            WIFI_PREAMBLE_LONG,
                            NanoSeconds(800),
                            1,
                            1,
                            0,
                            20,
                            false);
    }

    void DoReportRtsFailed(WifiRemoteStation*) override {}
    void DoReportDataFailed(WifiRemoteStation*) override {}
    void DoReportRtsOk(WifiRemoteStation*, double, WifiMode, double) override {}
    void DoReportDataOk(WifiRemoteStation*, double, WifiMode, double, MHz_u, uint8_t) override {}
    void DoReportFinalRtsFailed(WifiRemoteStation*) override {}
    void DoReportFinalDataFailed(WifiRemoteStation*) override {}
    void DoReportRxOk(WifiRemoteStation*, double, WifiMode) override {}
};

// ns-3 has no CCMP. Padding behind the packet has its length; the receiver's IP removes it.
static void
Encrypt(Ptr<const Packet> packet)
{
    const_cast<Packet*>(PeekPointer(packet))->AddPaddingAtEnd(g_plan.encryption);
}

static void
Begins(WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    for (const auto& [user, psdu] : psdus)
    {
        if (psdu->GetHeader(0).IsQosData() && psdu->GetHeader(0).HasData() && Counts(Simulator::Now()))
        {
            g_result.ppdus += 1;
            g_result.mpdus += psdu->GetNMpdus();
        }
    }
}

static void
NoAnswer(uint8_t, Ptr<const WifiPsdu>, const WifiTxVector&)
{
    g_result.failed += Counts(Simulator::Now());
}

// Sends datagrams, each at a random instant of its period.
struct Source
{
    Ptr<Socket> socket;
    double period;
    int content;
    Ptr<UniformRandomVariable> chance;
    double begins;

    void Schedule()
    {
        double at = begins + chance->GetValue(0, period);
        Simulator::Schedule(std::max(NanoSeconds(at) - Simulator::Now(), Time(0)), &Source::Send, this);
    }

    void Send()
    {
        socket->Send(Create<Packet>(content));
        begins += period;
        Schedule();
    }
};

static void
Received(int flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        if (Counts(Simulator::Now()))
        {
            g_result.bytes[flow] += packet->GetSize();
        }
    }
}

static void
Sunk(int flow, Ptr<const Packet> packet, const Address&)
{
    if (Counts(Simulator::Now()))
    {
        g_result.bytes[flow] += packet->GetSize();
    }
}

// Sends a datagram in each period, and measures the round trip of those that come back.
struct Probe
{
    int station;
    Ptr<Socket> socket;
    double period;
    int content;
    std::vector<Time> due;

    void Send()
    {
        uint32_t number = due.size();
        due.push_back(Simulator::Now());
        if (Counts(Simulator::Now()))
        {
            g_result.probes[station] += 1;
        }
        std::vector<uint8_t> bytes(content, 0);
        std::copy_n(reinterpret_cast<uint8_t*>(&number), sizeof number, bytes.begin());
        socket->Send(Create<Packet>(bytes.data(), bytes.size()));
        Simulator::Schedule(NanoSeconds(period), &Probe::Send, this);
    }

    void Receive(Ptr<Socket> from)
    {
        while (Ptr<Packet> packet = from->Recv())
        {
            uint32_t number = 0;
            packet->CopyData(reinterpret_cast<uint8_t*>(&number), sizeof number);
            if (Counts(due[number]))
            {
                g_result.roundTrips[station].push_back((Simulator::Now() - due[number]).GetNanoSeconds() / 1e6);
            }
        }
    }
};

static void
Reflect(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        packet->RemoveAllPacketTags();
        packet->RemoveAllByteTags();
        socket->SendTo(packet, 0, from);
    }
}

static void
Queue(Ptr<Node> node, Ptr<NetDevice> device, const std::string& kind, int limit, int frames)
{
    TrafficControlHelper control;
    if (kind == "fifo")
    {
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(std::to_string(limit) + "p"));
    }
    else
    {
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc",
                                 "MaxSize", StringValue(std::to_string(limit) + "p"),
                                 "UseEcn", BooleanValue(false),
                                 "Target", StringValue("5ms"),
                                 "Interval", StringValue("100ms"),
                                 "Flows", UintegerValue(1024),
                                 "DropBatchSize", UintegerValue(64));
    }
    control.Uninstall(device);
    QueueDiscContainer queues = control.Install(device);
    if (kind != "fifo")
    {
        DynamicCast<FqCoDelQueueDisc>(queues.Get(0))->SetQuantum(1514);
    }
    auto wifi = DynamicCast<WifiNetDevice>(device);
    wifi->GetMac()->GetTxopQueue(AC_BE)->SetMaxSize(QueueSize(std::to_string(frames) + "p"));
}

static Result
run(const Plan& plan)
{
    g_plan = plan;
    g_result = Result();
    g_result.bytes.assign(plan.flows.size(), 0);
    g_result.roundTrips.assign(plan.modes.size(), {});
    g_result.probes.assign(plan.modes.size(), 0);
    Rates::Modes().clear();
    Rates::GetTypeId();
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(plan.seed);
    int stations = plan.modes.size();

    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(plan.tries));
    Config::SetDefault("ns3::WifiRemoteStationManager::IncrementRetryCountUnderBa", BooleanValue(true));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(plan.explicitBar));
    Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(std::max(plan.ampduFrames, 1)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(plan.congestion));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(plan.segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::UdpSocket::RcvBufSize", UintegerValue(64 << 20));

    NodeContainer nodes(stations + 2);
    Ptr<Node> server = nodes.Get(0);
    Ptr<Node> ap = nodes.Get(1);

    YansWifiChannelHelper channels;
    channels.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channels.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-30));
    YansWifiPhyHelper phy;
    phy.SetChannel(channels.Create());
    phy.Set("Antennas", UintegerValue(plan.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(plan.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(plan.streams));
    phy.Set("ChannelSettings",
            StringValue("{0, " + std::to_string(plan.width) + ", " + (plan.band2 ? "BAND_2_4GHZ" : "BAND_5GHZ") + ", 0}"));
    if (!plan.detectPreambles)
    {
        phy.DisablePreambleDetectionModel();
    }
    WifiHelper wifi;
    static const std::map<std::string, WifiStandard> standards{
        {"802.11a", WIFI_STANDARD_80211a},   {"802.11b", WIFI_STANDARD_80211b},   {"802.11g", WIFI_STANDARD_80211g},
        {"802.11n", WIFI_STANDARD_80211n}, {"802.11ac", WIFI_STANDARD_80211ac}, {"802.11ax", WIFI_STANDARD_80211ax}};
    wifi.SetStandard(standards.at(plan.standard));
    wifi.SetRemoteStationManager("crosscheck::Rates");
    wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(plan.guard == 400));
    if (plan.guard >= 800)
    {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(plan.guard)));
    }

    WifiMacHelper mac;
    Ssid ssid("crosscheck");
    mac.SetType("ns3::ApWifiMac",
                "Ssid", SsidValue(ssid),
                "QosSupported", BooleanValue(true),
                "BE_MaxAmpduSize", UintegerValue(plan.ampduBytes),
                "BeaconInterval", TimeValue(MicroSeconds(1024 * 1000)));
    NetDeviceContainer apDevice = wifi.Install(phy, mac, ap);
    mac.SetType("ns3::StaWifiMac",
                "Ssid", SsidValue(ssid),
                "QosSupported", BooleanValue(true),
                "BE_MaxAmpduSize", UintegerValue(plan.ampduBytes),
                "MaxMissedBeacons", UintegerValue(1000),
                "AssocRequestTimeout", TimeValue(MilliSeconds(100)),
                "WaitBeaconTimeout", TimeValue(Seconds(3)));
    NodeContainer others;
    for (int i = 0; i < stations; i++)
    {
        others.Add(nodes.Get(i + 2));
    }
    NetDeviceContainer devices = wifi.Install(phy, mac, others);

    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (int i = 0; i < stations; i++)
    {
        double angle = 2 * M_PI * i / stations;
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(ap);
    mobility.Install(others);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(plan.rate)));
    wire.SetChannelAttribute("Delay", TimeValue(NanoSeconds(plan.delay)));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    NetDeviceContainer wired = wire.Install(server, ap);

    InternetStackHelper stack;
    stack.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.0.0", "255.255.255.0");
    Ipv4InterfaceContainer wiredAt = addresses.Assign(wired);
    addresses.SetBase("10.2.0.0", "255.255.255.0");
    Ipv4InterfaceContainer apAt = addresses.Assign(apDevice);
    Ipv4InterfaceContainer at = addresses.Assign(devices);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();

    TrafficControlHelper none;
    none.Uninstall(wired);
    Queue(ap, apDevice.Get(0), plan.apQueue, plan.apLimit, plan.apFrames);
    for (int i = 0; i < stations; i++)
    {
        Queue(others.Get(i), devices.Get(i), plan.stationQueue, plan.stationLimit, plan.stationFrames);
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        Rates::Modes()[device->GetMac()->GetAddress()] = plan.modes[i];
        DynamicCast<Rates>(device->GetRemoteStationManager())->mode = plan.modes[i];
    }
    for (int i = 0; i <= stations; i++)
    {
        auto device = DynamicCast<WifiNetDevice>(i == 0 ? apDevice.Get(0) : devices.Get(i - 1));
        auto mac = device->GetMac();
        auto txop = mac->GetQosTxop(AC_BE);
        txop->SetMinCw(plan.cwMin);
        txop->SetMaxCw(1023);
        txop->SetAifsn(3);
        txop->SetTxopLimit(Time(0));
        if (plan.encryption > 0)
        {
            mac->TraceConnectWithoutContext("MacTx", MakeCallback(&Encrypt));
        }
        mac->TraceConnectWithoutContext("PsduResponseTimeout", MakeCallback(&NoAnswer));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Begins));
    }

    auto chance = CreateObject<UniformRandomVariable>();
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<std::unique_ptr<Probe>> probes;
    for (size_t f = 0; f < plan.flows.size(); f++)
    {
        const Flow& flow = plan.flows[f];
        Ptr<Node> from = flow.up ? others.Get(flow.station) : server;
        Ptr<Node> to = flow.up ? server : others.Get(flow.station);
        InetSocketAddress where(flow.up ? wiredAt.GetAddress(0) : at.GetAddress(flow.station), 5000 + f);
        Time start = MilliSeconds(4000) ;
        if (flow.tcp)
        {
            PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000 + f));
            auto sinks = sink.Install(to);
            sinks.Start(Seconds(0));
            sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Sunk, int(f)));
            BulkSendHelper bulk("ns3::TcpSocketFactory", where);
            bulk.SetAttribute("SendSize", UintegerValue(64 * plan.segment));
            auto bulks = bulk.Install(from);
            bulks.Start(start);
        }
        else
        {
            auto receiver = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
            receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5000 + f));
            receiver->SetRecvCallback(MakeBoundCallback(&Received, int(f)));
            auto source = std::make_unique<Source>();
            source->socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
            source->socket->Connect(where);
            source->period = flow.period;
            source->content = flow.length - 28;
            source->chance = chance;
            source->begins = start.GetNanoSeconds();
            source->Schedule();
            sources.push_back(std::move(source));
        }
    }
    if (plan.probePeriod > 0)
    {
        auto mirror = Socket::CreateSocket(server, UdpSocketFactory::GetTypeId());
        mirror->Bind(InetSocketAddress(Ipv4Address::GetAny(), 7));
        mirror->SetRecvCallback(MakeCallback(&Reflect));
        for (int i = 0; i < stations; i++)
        {
            auto probe = std::make_unique<Probe>();
            probe->station = i;
            probe->socket = Socket::CreateSocket(others.Get(i), UdpSocketFactory::GetTypeId());
            probe->socket->Bind();
            probe->socket->Connect(InetSocketAddress(wiredAt.GetAddress(0), 7));
            probe->socket->SetRecvCallback(MakeCallback(&Probe::Receive, probe.get()));
            probe->period = plan.probePeriod;
            probe->content = plan.probeLength - 28;
            Time first = Seconds(4) + NanoSeconds(chance->GetValue(0, plan.probePeriod));
            Simulator::Schedule(first, &Probe::Send, probe.get());
            probes.push_back(std::move(probe));
        }
    }
    g_plan.warmup += 4e9;
    Simulator::Stop(NanoSeconds(4e9 + plan.duration));
    Simulator::Run();
    for (int i = 0; i < stations; i++)
    {
        auto mac = DynamicCast<StaWifiMac>(DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac());
        g_result.associated = g_result.associated && mac->IsAssociated();
    }
    for (auto& probe : probes)
    {
        probe->socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        probe->socket = nullptr;
    }
    for (auto& source : sources)
    {
        source->socket = nullptr;
    }
    Simulator::Destroy();
    return g_result;
}
} // namespace crosscheck

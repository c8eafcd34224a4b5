import ArgumentParser
import Gateway
import Commands

/// The flags that configure a gateway. Each is a setting.
struct GatewayOptions: ParsableArguments {
    @Option(Settings.library) var library: FlagValue?
    @Option(Settings.originals) var originals: FlagValue?
    @Option(Settings.gatewayAddress) var address: FlagValue?
    @Option(Settings.gatewayPort) var port: FlagValue?
    @Option(Settings.gatewayOrigin) var origin: FlagValue?
    @Option(Settings.gatewayStatusPort) var statusPort: FlagValue?
    @Option(Settings.gatewayStatusAddress) var statusAddress: FlagValue?
    @Option(Settings.gatewayUploadMax) var uploadMax: FlagValue?
    @Option(Settings.gatewayUploadDay) var uploadDay: FlagValue?
    @Option(Settings.gatewayBacklog) var backlog: FlagValue?
    @Option(Settings.gatewayStored) var stored: FlagValue?
    @Option(Settings.gatewayRate) var rate: FlagValue?
    @Option(Settings.gatewayWebhooksAllow) var webhooksAllow: FlagValue?
}

extension GatewaySettings {
    /// Reads the settings of a gateway.
    init(_ reader: inout SettingsReader) {
        self.init()
        address = reader.value(Settings.gatewayAddress)
        port = reader.value(Settings.gatewayPort)
        statusAddress = reader.value(Settings.gatewayStatusAddress)
        statusPort = reader.optional(Settings.gatewayStatusPort)
        publicOrigin = reader.optional(Settings.gatewayOrigin)
        providerSignIn = ProviderSignInSettings(&reader, origin: publicOrigin)
        uploadBytesMax = reader.value(Settings.gatewayUploadMax)
        uploadBytesPerDay = reader.value(Settings.gatewayUploadDay)
        backlogMax = reader.value(Settings.gatewayBacklog)
        storedBytesMax = reader.optional(Settings.gatewayStored)
        requestsPerSecond = reader.value(Settings.gatewayRate)
        webhooksAllowed = reader.value(Settings.gatewayWebhooksAllow)
    }
}

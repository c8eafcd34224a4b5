import ArgumentParser
import RenderProtocol

/// The flags for the limits on a photo's header, which apply to every job.
package struct LimitOptions: ParsableArguments {
    @Option(Settings.renderPixels) var renderPixels: FlagValue?
    @Option(Settings.limit(.bytes)) var limitBytes: FlagValue?
    @Option(Settings.limit(.frames)) var limitFrames: FlagValue?
    @Option(Settings.limit(.pages)) var limitPages: FlagValue?
    @Option(Settings.limit(.scans)) var limitScans: FlagValue?
    @Option(Settings.limit(.profile)) var limitProfile: FlagValue?
    @Option(Settings.limit(.metadata)) var limitMetadata: FlagValue?
    @Option(Settings.limit(.density)) var limitDensity: FlagValue?
    @Option(Settings.limit(.side)) var limitSide: FlagValue?
    @Option(Settings.limit(.filters)) var limitFilters: FlagValue?
    @Option(Settings.limit(.radius)) var limitRadius: FlagValue?
    @Option(Settings.limit(.spool)) var limitSpool: FlagValue?
    @Option(Settings.limit(.movieFrames)) var limitMovieFrames: FlagValue?
    @Option(Settings.limit(.movieSeconds)) var limitMovieSeconds: FlagValue?
    @Option(Settings.limit(.tracks)) var limitTracks: FlagValue?
    @Option(Settings.limit(.boxes)) var limitBoxes: FlagValue?

    package init() {}

    /// The limits that the flags set.
    package var flagValues: [FlagValue] { FlagValue.all(in: self) }
}

extension RenderLimits {
    /// Reads all limits.
    init(_ reader: inout SettingsReader) {
        self.init(pixelsMax: reader.value(Settings.renderPixels))
        for limit in RenderLimit.allCases {
            self[keyPath: limit.field] = reader.value(Settings.limit(limit))
        }
    }
}

import ArgumentParser
import RenderProtocol

/// The flags for the limits on a photo's header, which apply to every job.
package struct LimitOptions: ParsableArguments {
    @Option(Settings.renderPixels) var renderPixels: GivenSetting?
    @Option(Settings.limit(.bytes)) var limitBytes: GivenSetting?
    @Option(Settings.limit(.frames)) var limitFrames: GivenSetting?
    @Option(Settings.limit(.pages)) var limitPages: GivenSetting?
    @Option(Settings.limit(.scans)) var limitScans: GivenSetting?
    @Option(Settings.limit(.profile)) var limitProfile: GivenSetting?
    @Option(Settings.limit(.metadata)) var limitMetadata: GivenSetting?
    @Option(Settings.limit(.density)) var limitDensity: GivenSetting?
    @Option(Settings.limit(.side)) var limitSide: GivenSetting?
    @Option(Settings.limit(.filters)) var limitFilters: GivenSetting?
    @Option(Settings.limit(.radius)) var limitRadius: GivenSetting?
    @Option(Settings.limit(.spool)) var limitSpool: GivenSetting?
    @Option(Settings.limit(.movieFrames)) var limitMovieFrames: GivenSetting?
    @Option(Settings.limit(.movieSeconds)) var limitMovieSeconds: GivenSetting?
    @Option(Settings.limit(.tracks)) var limitTracks: GivenSetting?
    @Option(Settings.limit(.boxes)) var limitBoxes: GivenSetting?

    package init() {}

    /// The limits that the flags set.
    package var given: [GivenSetting] { GivenSetting.all(in: self) }
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

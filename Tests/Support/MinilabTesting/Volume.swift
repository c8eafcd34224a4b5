import Foundation

/// How much tests with random input try: a part of it in each run, and all of it where `MINILAB_NIGHT=1` asks for it.
///
/// Each such test prints its seed. `MINILAB_SEED` repeats a run of the same volume.
public enum Volume {
    /// Whether the whole volume is asked for.
    public static let isNight = ProcessInfo.processInfo.environment["MINILAB_NIGHT"] == "1"

    /// Returns the number of trials of this run.
    public static func trials(byDay day: Int, byNight night: Int) -> Int { isNight ? night : day }
}

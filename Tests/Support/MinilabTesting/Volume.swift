import Foundation

/// How much tests of many inputs try: a part of it in each run, and all of it where `MINILAB_NIGHT=1` asks for it.
///
/// Each test with random input prints its seed. `MINILAB_SEED` repeats a run of the same volume.
public enum Volume {
    /// Whether the whole volume is asked for.
    public static let isNight = ProcessInfo.processInfo.environment["MINILAB_NIGHT"] == "1"

    /// Returns the number of trials of this run.
    public static func trials(byDay day: Int, byNight night: Int) -> Int { isNight ? night : day }

    /// Returns the inputs of this run: all by night, and by day so many of them, evenly spread from the first on.
    public static func inputs<Input>(_ all: [Input], byDay day: Int) -> [Input] {
        if isNight || all.count <= day { return all }
        return (0..<day).map { all[$0 * all.count / day] }
    }
}

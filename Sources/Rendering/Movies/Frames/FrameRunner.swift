import Adjustments
import Codecs

/// Runs passes over rows of light of a frame.
struct FrameRunner {
    init(_ passes: [Pass], _ layout: FrameLayout, _ colour: FrameColour, result: FrameLayout) {}

    func edit(_ source: [SourcePlane], into target: [TargetPlane]) throws(Failure) {
        throw Failure(
            .internalError, "Geometry and neighbourhood filters of movies are not there yet.")
    }
}

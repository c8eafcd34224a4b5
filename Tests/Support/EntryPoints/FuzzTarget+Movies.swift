import PhotoFiles
import FoundationEssentials

extension FuzzTarget {
    /// Checks that parts have each frame once, and that a transplant is as long as its pieces, each of which is in the file.
    func readMovie(_ bytes: Data) {
        var file = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        do throws(MovieProblem) {
            let movie = try Movie(&file)
            let samples = movie.samples
            let parts = try MovieParts(samples, timeScale: movie.video.timeScale).parts
            precondition(parts.map(\.frames.count).reduce(0, +) == samples.sizes.count)
            precondition(parts.count <= MovieParts.countMax + 1)
            let new = Transplant.Samples(
                sizes: samples.sizes.map { _ in 3 }, ranks: samples.ranks, syncSamples: [0])
            for isMuted in [false, true] {
                let plan = try Transplant(
                    movie, samples: isMuted ? nil : new, entry: nil,
                    matrix: MovieMatrix(orientation: 6), isMuted: isMuted)
                let lengths = plan.pieces.map { piece in
                    switch piece {
                    case .bytes(let bytes): return bytes.count
                    case .source(let range):
                        precondition(range.upperBound <= bytes.count)
                        return range.count
                    case .samples(let range):
                        return isMuted
                            ? samples.sizes[range].reduce(0, +) : 3 * range.count
                    }
                }
                precondition(lengths.reduce(0, +) == plan.length)
            }
        } catch {
            precondition(!error.description.isEmpty)
        }
    }

    /// Checks that a codec's configuration is no longer than its sample description, and that written parameter sets can be read
    /// again.
    func readSampleDescription(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        do throws(MovieProblem) {
            let codec = try MovieCodec(entry: bytes)
            precondition(codec.configuration.count <= bytes.count)
            precondition(codec.pixelAspect.map { $0.horizontal > 0 && $0.vertical > 0 } ?? true)
        } catch {
            precondition(!error.description.isEmpty)
        }
        // The input may also be a parameter set.
        let sets = [bytes, [0x68, 0xEE], [0x40, 1], [0x44, 1]]
        if let configuration = AVCConfiguration(parameterSets: sets) {
            precondition(configuration.bytes.count > bytes.count)
        }
        if let configuration = HEVCConfiguration(parameterSets: sets, chromaFormat: 1, bits: 8) {
            precondition(HEVCConfiguration(configuration.bytes[...]) == configuration)
        }
    }
}

import Glibc
import Codecs

// Tests name files by their paths; the target knows open files alone.

extension JPEGReader {
    convenience init(_ path: String, limits: JPEGLimits = JPEGLimits()) throws(JPEGError) {
        // What cannot be opened is no descriptor, and the reader says so.
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try self.init(file, limits: limits)
    }
}

extension JPEGWriter {
    convenience init(
        _ path: String, layout: JPEGLayout, coding: JPEGCoding, density: JPEGDensity = .unknown,
        markers: [JPEGMarker] = []
    ) throws(JPEGError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        defer { close(file) }
        try self.init(file, layout: layout, coding: coding, density: density, markers: markers)
    }
}

extension JPEGTransform {
    func write(
        _ reader: JPEGReader, to path: String, isOptimised: Bool = false, markers: [JPEGMarker],
        store: (any CoefficientStore)? = nil
    ) throws(JPEGError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        defer { close(file) }
        try write(reader, to: file, isOptimised: isOptimised, markers: markers, store: store)
    }
}

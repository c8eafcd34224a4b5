package import Files

/// A maker of thumbnails. The gateway itself decodes no photo.
package protocol PictureMaker: Sendable {
    /// Returns an upright JPEG of a photo.
    ///
    /// - Parameters:
    ///   - name: equal for equal bytes of the photo. A cached picture of the same name is returned again.
    ///   - side: the longest side, in pixels.
    ///   - open: opens the photo if there is no cached picture.
    /// - Throws: the reason for which there is no picture.
    func picture(
        named name: String, side: Int, of open: @Sendable @escaping () async throws -> OpenFile
    ) async throws -> OpenFile
}

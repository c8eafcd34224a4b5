package import Files

/// Makes small pictures to look at: the gateway itself reads no photo.
package protocol PictureMaker: Sendable {
    /// A JPEG of a photo, upright.
    ///
    /// - Parameters:
    ///   - name: equal for equal bytes of the photo: what was made under it before is given again.
    ///   - side: the longest side, in pixels.
    ///   - open: opens the photo, when its picture is not there.
    /// - Throws: why there is no picture of it.
    func picture(
        named name: String, side: Int, of open: @Sendable @escaping () async throws -> OpenFile
    ) async throws -> OpenFile
}

package import AccessKeys
package import Files

/// A maker of thumbnails. The gateway itself decodes no photo.
package protocol PictureMaker: Sendable {
    /// The number of pictures that were refused because too many of their tenant waited.
    var refusedCount: Int { get }
    /// Returns an upright JPEG of a photo.
    ///
    /// - Parameters:
    ///   - name: equal for equal bytes of the photo. A cached picture of the same name is returned again.
    ///   - side: the longest side, in pixels.
    ///   - owner: the caller's tenant, in whose turn the picture is made.
    ///   - open: opens the photo if there is no cached picture.
    /// - Throws: the reason for which there is no picture.
    func picture(
        named name: String, side: Int, for owner: FairShare.Owner,
        of open: @Sendable @escaping () async throws -> OpenFile
    ) async throws -> OpenFile
}

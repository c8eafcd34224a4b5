import Edits
import CMinilab

/// Every filter that Minilab renders, by the folders and files of this target. A new filter is a definition there and a line here.
enum FilterList {
    static let all: [FilterDefinition] = [
        // CIAuto
        Auto.definition,
        // Blending
        CIColorBurnBlendMode.definition,
        CIColorDodgeBlendMode.definition,
        CIDarkenBlendMode.definition,
        CIDifferenceBlendMode.definition,
        CIExclusionBlendMode.definition,
        CIHardLightBlendMode.definition,
        CILightenBlendMode.definition,
        CIMultiplyBlendMode.definition,
        CIOverlayBlendMode.definition,
        CIScreenBlendMode.definition,
        CISoftLightBlendMode.definition,
        CISourceOverCompositing.definition,
        // CSS
        CSSBrightness.definition,
        CSSContrast.definition,
        CSSGrayscale.definition,
        CSSHueRotate.definition,
        CSSInvert.definition,
        CSSOpacity.definition,
        CSSSaturate.definition,
        CSSSepia.definition,
        // Geometry
        CIAffineTransform.definition,
        CICrop.definition,
        CILanczosScaleTransform.definition,
        CIPerspectiveCorrection.definition,
        CIPerspectiveTransform.definition,
        CIStraightenFilter.definition,
        Flip.definition,
        Turn.definition,
        // Gradients
        CIGaussianGradient.definition,
        CILinearGradient.definition,
        CIRadialGradient.definition,
        CISmoothLinearGradient.definition,
        PictureGenerator.definition,
        // SizedSteps
        AspectCrop.definition,
        Resize.definition,
        MarkStep.definition,
        // CIBlendWithMask
        CIBlendWithMask.definition,
        // LookUpTables
        CIColorCube.definition,
        CIColorCubeWithColorSpace.definition,
        CubeFilter.definition,
        // Neighbourhood
        CIBloom.definition,
        CIBoxBlur.definition,
        CIConvolution3X3.definition,
        CIConvolution5X5.definition,
        CIConvolution9Horizontal.definition,
        CIConvolution9Vertical.definition,
        CIDiscBlur.definition,
        CIEdgeWork.definition,
        CIEdges.definition,
        CIGaussianBlur.definition,
        CIGloom.definition,
        CIHighlightShadowAdjust.definition,
        CIMedianFilter.definition,
        CIMotionBlur.definition,
        CINoiseReduction.definition,
        CIPixellate.definition,
        CISharpenLuminance.definition,
        CIUnsharpMask.definition,
        CSSBlur.definition,
        // PhotoEffects
        CIPhotoEffectChrome.definition,
        CIPhotoEffectFade.definition,
        CIPhotoEffectInstant.definition,
        CIPhotoEffectMono.definition,
        CIPhotoEffectNoir.definition,
        CIPhotoEffectProcess.definition,
        CIPhotoEffectTonal.definition,
        CIPhotoEffectTransfer.definition,
        // ScreensAndVignettes
        CICircularScreen.definition,
        CIDither.definition,
        CIDotScreen.definition,
        CIHatchedScreen.definition,
        CILineScreen.definition,
        CIVignette.definition,
        CIVignetteEffect.definition,
        // Tone
        CIColorClamp.definition,
        CIColorControls.definition,
        CIColorCrossPolynomial.definition,
        CIColorCurves.definition,
        CIColorInvert.definition,
        CIColorMatrix.definition,
        CIColorMonochrome.definition,
        CIColorPolynomial.definition,
        CIColorPosterize.definition,
        CIColorThreshold.definition,
        CIExposureAdjust.definition,
        CIFalseColor.definition,
        CIGammaAdjust.definition,
        CIHueAdjust.definition,
        CILinearToSRGBToneCurve.definition,
        CIMaximumComponent.definition,
        CIMinimumComponent.definition,
        CISRGBToneCurveToLinear.definition,
        CISepiaTone.definition,
        CITemperatureAndTint.definition,
        CIToneCurve.definition,
        CIVibrance.definition,
        CIWhitePointAdjust.definition,
    ]
}

/// Hands the list to ``FilterCatalogue``, which is below this target and cannot name it.
@c(minilab_filter_list)
public func filterList(_ definitions: UnsafeMutableRawPointer) {
    definitions.assumingMemoryBound(to: [FilterDefinition].self).pointee = FilterList.all
}

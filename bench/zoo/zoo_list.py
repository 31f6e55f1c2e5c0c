"""The networks of bench/onnx_networks: of timm and torchvision, of all the families that they have, the small ones of each."""

from dataclasses import dataclass, field

SCRIPT_OPSET = 17
NEW_OPSETS = (18, 19, 20, 21, 22)


@dataclass
class Network:
    """A network to be exported. `library`: timm or torchvision (tv). `kind`: classifier, segmenter, backbone, video or
    detector. `opset`: 17 is written by TorchScript's exporter, others by that of torch.export with external data."""
    name: str
    library: str
    kind: str
    size: int
    opset: int
    more: dict = field(default_factory=dict)

    @property
    def key(self):
        return f"{self.library}-{self.kind}-{self.name}"


# NAME or NAME:SIZE; "s" before a name: TorchScript. Without a size, that of the line's first word.
TIMM = """
96 resnet18 s/resnet10t resnet26d s/resnet50_gn resnetaa50 resnetblur18 s/seresnet18 ecaresnet26t seresnext26d_32x4d resnetrs50
96 resnetv2_18 s/resnetv2_50x1_bit resnetv2_50d_evos resnetv2_50d_frn skresnet18 s/skresnext50_32x4d resnest14d s/res2net50_14w_8s
96 res2next50 dla34 s/dla60_res2net dpn48b s/densenet121 densenetblur121d s/vgg11_bn:224 vovnet39a ese_vovnet19b_slim_dw eca_vovnet39b
96 hrnet_w18_small s/inception_v3 s/inception_v4:128 inception_resnet_v2:128 xception41 s/legacy_xception nasnetalarge:128
96 s/pnasnet5large:128 efficientnet_b0 s/tf_efficientnet_b0 tf_efficientnet_lite0 efficientnetv2_rw_t s/tf_efficientnetv2_b0
96 efficientnet_b0_gn efficientnet_cc_b0_4e mixnet_s s/tf_mixnet_s mobilenetv1_100 s/mobilenetv2_050 s/mnasnet_050 fbnetc_100 tinynet_e
96 mobilenet_edgetpu_v2_xs s/efficientnet_es s/mobilenetv3_small_050 lcnet_050 fbnetv3_b mobilenetv4_conv_small_035
96 mobilenetv4_hybrid_medium_075:128 mobilenetv4_conv_blur_medium s/tf_mobilenetv3_small_minimal_100 s/hardcorenas_a ghostnet_050
96 ghostnetv2_100:128 s/ghostnetv3_050 repghostnet_050 s/rexnet_100 regnetx_002 s/regnety_002 regnetz_005 selecsls42 s/gernet_s
96 repvgg_a0 mobileone_s0 s/gcresnext26ts lambda_resnet26t:256 halonet26t:256 s/botnet26t_256:256 bat_resnext26ts:256
96 sehalonet33ts:256 regnetz_b16 s/cspresnet50 cspdarknet53 s/cs3darknet_focus_s cspnext_tiny test_nfnet s/nf_regnet_b0 nf_resnet26
96 eca_nfnet_l0 s/dm_nfnet_f0 hgnet_tiny hgnetv2_b0 lcnetv2_small convnext_atto s/convnext_atto_ols convnextv2_atto
96 convnext_zepto_rms s/convmixer_768_32 inception_next_atto mambaout_femto rdnet_tiny starnet_s050 shvit_s1:224 fasternet_t0 repvit_m0_9
224 edgenext_xx_small s/mobilevit_xxs:256 mobilevitv2_050:256 fastvit_t8:256 efficientformer_l1 s/efficientformerv2_s0 efficientvit_b0
224 efficientvit_m0 s/efficientvim_m1 swiftformer_xs lowformer_b0 cpubone_nano iformer_t csatv2:512 nextvit_small s/tresnet_m:128
224 poolformer_s12 s/poolformerv2_s12 convformer_s18 caformer_s18 beit_base_patch16_224+depth=3 s/beitv2_base_patch16_224+depth=2
224 vit_tiny_patch16_224 s/deit_tiny_distilled_patch16_224 deit3_small_patch16_224 cait_xxs24_224 s/coat_lite_tiny coat_tiny convit_tiny
224 crossvit_9_240:240 s/crossvit_9_dagger_240:240 davit_tiny eva02_tiny_patch14_224 vit_small_patch16_dinov3+depth=4
224 vit_small_patch16_rope_224+depth=4 vit_pe_core_tiny_patch16_384:384 s/flexivit_small:240 vit_relpos_small_patch16_224
224 s/vit_srelpos_small_patch16_224 vit_tiny_r_s16_p8_224 focalnet_tiny_srf gcvit_xxtiny s/hiera_tiny_224 hieradet_small:256 levit_128s
224 s/levit_conv_128s maxvit_pico_rw_256:256 s/maxvit_tiny_tf_224 coatnet_pico_rw_224 coatnet_nano_cc_224 maxxvit_rmlp_nano_rw_256:256
224 s/coatnext_nano_rw_224 mixer_s32_224 gmlp_ti16_224 s/resmlp_12_224 mvitv2_tiny nest_tiny pit_ti_224 s/pvt_v2_b0 s/sequencer2d_s
224 swin_tiny_patch4_window7_224 swinv2_tiny_window8_256:256 s/swinv2_cr_tiny_224 tiny_vit_5m_224 tnt_s_patch16_224 twins_pcpvt_small
224 s/twins_svt_small visformer_tiny vitamin_small_224 volo_d1_224 xcit_nano_12_p16_224 s/xcit_tiny_12_p16_224
224 samvit_base_patch16_224+depth=3 vit_base_patch16_siglip_224+depth=3 vit_relpos_medium_patch16_rpn_224+depth=3
224 aimv2_large_patch14_224+depth=2 vit_medium_patch16_reg1_gap_256:256 naflexvit_base_patch16_gap+depth=2 eva_giant_patch14_224+depth=1
"""
TIMM_BACKBONES = """
96 resnet18 s/efficientnet_b0 convnext_atto hrnet_w18_small s/mobilenetv3_small_050 vgg11_bn regnety_002 s/darknet17
224 swin_tiny_patch4_window7_224 pvt_v2_b0 s/vit_tiny_patch16_224 nest_tiny edgenext_xx_small mobilevit_xxs:256
"""
TORCHVISION = """
96 s/alexnet:128 s/squeezenet1_1 googlenet s/inception_v3 s/shufflenet_v2_x0_5 mnasnet0_5 densenet121 mobilenet_v2
96 mobilenet_v3_small s/mobilenet_v3_large s/efficientnet_b0 efficientnet_v2_s s/regnet_x_400mf regnet_y_400mf resnet18 s/resnet50
96 resnext50_32x4d s/wide_resnet50_2 s/vgg11:224 convnext_tiny vit_b_32:224 vit_b_16:224 swin_t:224 s/swin_v2_t:256 maxvit_t:224
"""
TORCHVISION_SEGMENTERS = """
96 s/fcn_resnet50 fcn_resnet50+classes=argmax deeplabv3_resnet50 s/deeplabv3_mobilenet_v3_large deeplabv3_mobilenet_v3_large+classes=argmax
96 lraspp_mobilenet_v3_large s/lraspp_mobilenet_v3_large+classes=argmax deeplabv3_resnet101+classes=softmax
"""
TORCHVISION_BACKBONES = """
96 resnet18+fpn=1 s/resnet50+fpn=1 mobilenet_v3_large+fpn=1
"""
TORCHVISION_VIDEOS = """
64 r3d_18 s/mc3_18 r2plus1d_18 s3d:224 mvit_v2_s:224 swin3d_t:64
"""
TORCHVISION_DETECTORS = """
128 retinanet_resnet50_fpn+heads=1 fcos_resnet50_fpn+heads=1 s/ssdlite320_mobilenet_v3_large:320+heads=1
128 s/fasterrcnn_mobilenet_v3_large_320_fpn fasterrcnn_mobilenet_v3_large_fpn
"""


def parsed(text, library, kind):
    """The networks of a table above."""
    networks = []
    for line in text.split("\n"):
        words = line.split()
        for word in words[1:]:
            word, *options = word.split("+")
            script = word.startswith("s/")
            name, _, size = word.removeprefix("s/").partition(":")
            if options and ":" in options[0]:
                options[0], _, size = options[0].partition(":")
            more = dict(option.split("=") for option in options)
            opset = SCRIPT_OPSET if script else NEW_OPSETS[len(networks) % len(NEW_OPSETS)]
            name += "".join(f"+{key}={value}" for key, value in more.items())
            networks.append(Network(name, library, kind, int(size or words[0]), opset, more))
    return networks


def all_networks():
    return (parsed(TIMM, "timm", "classifier") + parsed(TORCHVISION, "tv", "classifier")
            + parsed(TORCHVISION_SEGMENTERS, "tv", "segmenter") + parsed(TIMM_BACKBONES, "timm", "backbone")
            + parsed(TORCHVISION_BACKBONES, "tv", "backbone") + parsed(TORCHVISION_VIDEOS, "tv", "video")
            + parsed(TORCHVISION_DETECTORS, "tv", "detector"))

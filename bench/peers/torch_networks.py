"""The networks of PyTorch that bench/peers.sh exports, with seeded weights."""

import zoo_exports

SIZE, UNET_SIZE = 224, 256
WIDTHS = (16, 32, 64, 128, 256)
CLASSES = 2


def unet(torch):
    """A small U-Net: four levels down and up, 16 to 256 channels, two 3x3 convolutions with BatchNorm per level."""
    nn = torch.nn

    def twice(given, made):
        layers = []
        for channels in (given, made):
            layers += [nn.Conv2d(channels, made, 3, padding=1, bias=False), nn.BatchNorm2d(made), nn.ReLU()]
        return nn.Sequential(*layers)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([twice(3 if i == 0 else WIDTHS[i - 1], WIDTHS[i]) for i in range(len(WIDTHS))])
            upwards = list(zip(WIDTHS[:0:-1], WIDTHS[-2::-1]))
            self.up = nn.ModuleList([nn.ConvTranspose2d(below, width, 2, stride=2) for below, width in upwards])
            self.join = nn.ModuleList([twice(2 * width, width) for _, width in upwards])
            self.pool = nn.MaxPool2d(2)
            self.head = nn.Conv2d(WIDTHS[0], CLASSES, 1)

        def forward(self, x):
            levels = []
            for i, down in enumerate(self.down):
                x = down(x if i == 0 else self.pool(x))
                levels.append(x)
            for up, join, level in zip(self.up, self.join, levels[-2::-1]):
                x = join(torch.cat([level, up(x)], 1))
            return self.head(x)

    return UNet()


def module(torch, torchvision, name):
    models = torchvision.models
    if name == "unet":
        return unet(torch)
    if name == "vit_tiny":  # of timm; torchvision has its parts
        return models.VisionTransformer(SIZE, patch_size=16, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768)
    if hasattr(models.segmentation, name):
        return getattr(models.segmentation, name)(weights=None, weights_backbone=None)
    return getattr(models, name)(weights=None)


def build(torch, torchvision, name):
    """The network in inference mode, and an input. `name`: NETWORK, or NETWORK@N for a batch of N."""
    name, _, batch = name.partition("@")
    torch.manual_seed(0)
    network = module(torch, torchvision, name).eval()
    random = zoo_exports.settle(torch, network)
    size = UNET_SIZE if name == "unet" else SIZE
    return zoo_exports.wrapped(torch, network, {}), torch.randn(int(batch or 1), 3, size, size, generator=random)

"""A small U-Net: four levels down and up, 16 to 256 channels, two 3x3 convolutions with BatchNorm per level."""

WIDTHS = (16, 32, 64, 128, 256)
CLASSES = 2


def build(torch, settle, size):
    """The network in inference mode, and an input. `settle(torch, network)` sets random BatchNorm statistics."""
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

    torch.manual_seed(0)
    network = UNet().eval()
    random = settle(torch, network)
    return network, torch.randn(1, 3, size, size, generator=random)

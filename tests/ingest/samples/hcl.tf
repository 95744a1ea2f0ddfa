terraform {
  required_version = ">= 1.0"
}

# The region.
variable "region" {
  type    = string
  default = "eu"
}

locals {
  name = "app"
  tags = { a = 1 }
}

resource "aws_instance" "web" {
  ami = "x"

  ebs_block_device {
    size = 1
  }
}

data "aws_ami" "ubuntu" {
  owners = ["x"]
}

module "vpc" {
  source = "./vpc"
}

output "ip" {
  value = aws_instance.web.ip
}

provider "aws" {
  region = var.region
}

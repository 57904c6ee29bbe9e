module @jit_transposed attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x5x6x2xf32>) -> (tensor<?x10x12x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x5x6x2xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 5, 6, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x5x6x2xf32>) -> tensor<?x10x12x3xf32>
    return %2 : tensor<?x10x12x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x5x6x2xf32>) -> (tensor<?x10x12x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[[[-0.757522881, -0.157462686, -0.0123613011], [-0.0336217433, -0.0375167727, -0.448723853]], [[-0.0265095551, -0.0154693518, 0.516224802], [0.746693373, -0.0547956116, -0.306522369]], [[-0.0259928517, -0.243048504, -0.296973526], [-0.0234600604, -0.417321771, 0.242442697]]], [[[-0.0415662192, 0.100003324, -0.0731760114], [-0.29090178, -0.379183829, -9.491040e-02]], [[-0.219504133, 0.0935605317, -0.00177268125], [-0.544922709, 0.0268485192, -0.537144184]], [[-0.246591046, -0.117741443, -0.830109298], [0.0366029777, 0.0603933409, -0.0632096753]]], [[[-0.169726908, -0.149441466, -0.390615791], [-0.107880145, -0.221044719, 0.0366741568]], [[-0.481654435, 0.0942359641, 0.0572875589], [-0.0566251315, -0.175681934, 0.220935956]], [[-0.665840685, 0.184181333, 0.0972149893], [0.113350518, 0.153325036, -0.261457771]]]]> : tensor<3x3x2x3xf32>
    %0 = stablehlo.convolution(%arg1, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x5x6x2xf32>, tensor<3x3x2x3xf32>) -> tensor<?x10x12x3xf32>
    return %0 : tensor<?x10x12x3xf32>
  }
}
